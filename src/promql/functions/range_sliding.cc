// Kernels with memory. What makes a window's answer is kept as a short list that changes only where
// samples enter and leave: the places where neighbours differ in the way that counts (rate,
// increase, resets, changes), the samples that are an extreme of all after them (min, max). Floats
// only; windows with histograms or extended edges go to the plain kernels.
#include "promql/functions/range_sliding.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "promql/functions/accumulators.h"
#include "promql/functions/range_kernels.h"

namespace narthex::promql {
namespace {

// A queue of samples of one series by their number, that leave at the front.
struct Mark {
  size_t number;
  double value;
};
class MarkQueue {
 public:
  bool empty() const { return begin_ == marks_.size(); }
  std::span<const Mark> marks() const { return std::span(marks_).subspan(begin_); }
  const Mark& front() const { return marks_[begin_]; }
  const Mark& back() const { return marks_.back(); }
  void Clear() {
    marks_.clear();
    begin_ = 0;
  }
  void PushBack(Mark mark) { marks_.push_back(mark); }
  void PopBack() { marks_.pop_back(); }
  // Drops the marks numbered below `number`.
  void DropBefore(size_t number) {
    while (begin_ < marks_.size() && marks_[begin_].number < number) ++begin_;
    // Moving is paid for by the marks that left.
    if (begin_ > marks_.size() / 2) {
      marks_.erase(marks_.begin(), marks_.begin() + static_cast<ptrdiff_t>(begin_));
      begin_ = 0;
    }
  }

 private:
  std::vector<Mark> marks_;
  size_t begin_ = 0;
};

// The samples of the window that differ from the one before in the way of `Differs`, each with the
// value of the one before.
template <bool (*Differs)(double previous, double current)>
class Differences {
 public:
  void Reset() {
    marks_.Clear();
    next_ = 0;
  }
  void MoveTo(const Window& window) {
    const size_t begin = window.floats_before;
    const size_t end = begin + window.values.size();
    marks_.DropBefore(begin + 1);
    for (next_ = std::max(next_, begin + 1); next_ < end; ++next_) {
      const double previous = window.values[next_ - 1 - begin];
      if (Differs(previous, window.values[next_ - begin])) marks_.PushBack({next_, previous});
    }
  }
  std::span<const Mark> marks() const { return marks_.marks(); }

 private:
  MarkQueue marks_;
  size_t next_ = 0;  // The first sample not looked at yet.
};

bool IsDecrease(double previous, double current) { return current < previous; }
bool IsChange(double previous, double current) {
  return current != previous && !(std::isnan(current) && std::isnan(previous));
}

bool IsPlain(const Window& window) {
  return window.mode == RangeMode::kPlain && window.histograms.empty();
}

class SlidingRate final : public SlidingKernel {
 public:
  SlidingRate(RangeKernel plain, RateKind kind) : plain_(plain), kind_(kind) {}

  void Reset() override { decreases_.Reset(); }
  Outcome Evaluate(const Window& window, const RangeArguments& arguments, NoteSet* notes,
                   RangeResult* result) override {
    if (!IsPlain(window) || window.values.size() < 2) {
      return plain_(window, arguments, notes, result);
    }
    decreases_.MoveTo(window);
    double increase = window.values.back() - window.values.front();
    for (const Mark& mark : decreases_.marks()) increase += mark.value;
    return ExtrapolatedFloatRate(window, increase, kind_, result);
  }

 private:
  const RangeKernel plain_;
  const RateKind kind_;
  Differences<IsDecrease> decreases_;
};

template <bool (*Differs)(double previous, double current), RangeKernel kPlain>
class SlidingCount final : public SlidingKernel {
 public:
  void Reset() override { differences_.Reset(); }
  Outcome Evaluate(const Window& window, const RangeArguments& arguments, NoteSet* notes,
                   RangeResult* result) override {
    if (!IsPlain(window) || window.values.empty()) return kPlain(window, arguments, notes, result);
    differences_.MoveTo(window);
    return FloatResult(static_cast<double>(differences_.marks().size()), result);
  }

 private:
  Differences<Differs> differences_;
};

// Keeps the samples that are better than all after them; the first one is the best of the window.
// NaNs are none of them.
template <bool (*IsBetter)(double candidate, double than)>
class SlidingExtreme final : public SlidingKernel {
 public:
  void Reset() override {
    candidates_.Clear();
    next_ = 0;
  }
  Outcome Evaluate(const Window& window, const RangeArguments&, NoteSet* notes,
                   RangeResult* result) override {
    if (!HasFloats(window, notes)) return Outcome::kNone;
    const size_t begin = window.floats_before;
    const size_t end = begin + window.values.size();
    candidates_.DropBefore(begin);
    for (next_ = std::max(next_, begin); next_ < end; ++next_) {
      const double value = window.values[next_ - begin];
      if (std::isnan(value)) continue;
      while (!candidates_.empty() && IsBetter(value, candidates_.back().value)) {
        candidates_.PopBack();
      }
      candidates_.PushBack({next_, value});
    }
    const double best = candidates_.empty() ? window.values.back() : candidates_.front().value;
    return FloatResult(best, result);
  }

 private:
  MarkQueue candidates_;
  size_t next_ = 0;
};

bool IsGreater(double candidate, double than) { return candidate > than; }
bool IsLess(double candidate, double than) { return candidate < than; }

}  // namespace

std::unique_ptr<SlidingKernel> NewSlidingRate() {
  return std::make_unique<SlidingRate>(RateKernel,
                                       RateKind{.is_counter = true, .is_per_second = true});
}
std::unique_ptr<SlidingKernel> NewSlidingIncrease() {
  return std::make_unique<SlidingRate>(IncreaseKernel,
                                       RateKind{.is_counter = true, .is_per_second = false});
}
std::unique_ptr<SlidingKernel> NewSlidingResets() {
  return std::make_unique<SlidingCount<IsDecrease, ResetsKernel>>();
}
std::unique_ptr<SlidingKernel> NewSlidingChanges() {
  return std::make_unique<SlidingCount<IsChange, ChangesKernel>>();
}
std::unique_ptr<SlidingKernel> NewSlidingMax() {
  return std::make_unique<SlidingExtreme<IsGreater>>();
}
std::unique_ptr<SlidingKernel> NewSlidingMin() {
  return std::make_unique<SlidingExtreme<IsLess>>();
}

}  // namespace narthex::promql
