// The functions of range vectors, as kernels over one window. The table says for each name what the
// evaluator must know besides the number. Kernels are pure; thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "promql/functions/annotations.h"
#include "promql/functions/window.h"

namespace narthex::promql {

// Scalar arguments in the order they are written, the range itself left out: quantile_over_time(q),
// predict_linear(seconds), double_exponential_smoothing(smoothing factor, trend factor).
struct RangeArguments {
  double first = 0;
  double second = 0;
};

// Evaluates one window. kNone: no result at this step. Notes are added, never cleared. An empty
// window yields kNone.
using RangeKernel = Outcome (*)(const Window& window, const RangeArguments& arguments,
                                NoteSet* notes, RangeResult* result);

// A kernel with memory, for windows of one series that only move forward; gives what the plain
// kernel gives, bit for bit, at less cost. Thread-compatible.
class SlidingKernel {
 public:
  virtual ~SlidingKernel() = default;
  // Forgets everything: the next window is of another series.
  virtual void Reset() = 0;
  // REQUIRES: the window begins and ends no earlier than the one before (floats_before and its sum
  // with values.size() do not decrease), and the columns hold the same samples at the same numbers.
  virtual Outcome Evaluate(const Window& window, const RangeArguments& arguments, NoteSet* notes,
                           RangeResult* result) = 0;
};

struct RangeFunction {
  std::string_view name;
  RangeKernel kernel = nullptr;
  // Null where sliding gains nothing.
  std::unique_ptr<SlidingKernel> (*new_sliding)() = nullptr;
  uint8_t num_scalars = 0;
  bool keeps_name = false;       // first_over_time, last_over_time.
  bool is_counter_rate = false;  // rate, increase: names that are no counter's get an info.
  bool accepts_anchored = false;
  bool accepts_smoothed = false;
  // What goes wrong for these arguments as soon as a series has samples; null: nothing.
  // kInvalidArgument with Prometheus's text.
  absl::Status (*check)(const RangeArguments& arguments) = nullptr;
};

// Null if `name` is no function of a range vector (absent_over_time is not one of them: it looks at
// whole results, not at windows).
const RangeFunction* FindRangeFunction(std::string_view name);
std::span<const RangeFunction> AllRangeFunctions();

// Whether rate() of a float series of this name deserves Note::kPossibleNonCounter.
bool LooksLikeNoCounter(std::string_view metric_name);

}  // namespace narthex::promql
