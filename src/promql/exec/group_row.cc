#include "promql/exec/group_row.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "narthex/base/check.h"
#include "narthex/model/histogram_math.h"
#include "promql/functions/accumulators.h"

namespace narthex::promql {
namespace {

using model::Combined;
using model::CounterResetHint;
using model::FloatHistogram;
using model::HistogramMean;
using model::HistogramSum;

// Adds values to compensated sums, cell by cell, as KahanSum::Add() does. -0.0 is the neutral
// start. Selections instead of branches, so that the compiler can do several cells at once.
void AddCompensated(std::span<const double> values, std::span<double> sums,
                    std::span<double> compensations) {
  const size_t size = values.size();
  for (size_t i = 0; i < size; ++i) {
    const double sum = sums[i];
    const double value = values[i];
    const double total = sum + value;
    const bool sum_larger = std::abs(sum) >= std::abs(value);
    const double larger = sum_larger ? sum : value;
    const double smaller = sum_larger ? value : sum;
    const double compensation = compensations[i] + ((larger - total) + smaller);
    compensations[i] = std::abs(total) > std::numeric_limits<double>::max() ? 0 : compensation;
    sums[i] = total;
  }
}

// Histograms of a group of sum or avg. Only steps that see a histogram have a cell.
template <typename Accumulator>
class HistogramCells {
 public:
  enum Flag : uint8_t { kFloat = 1, kHistogram = 2, kMixedSchemas = 4, kReset = 8, kNotReset = 16 };

  explicit HistogramCells(size_t num_steps) : flags_(num_steps, 0) {}

  void SawFloat(size_t step) { flags_[step] |= kFloat; }
  bool skip(size_t step) const { return (flags_[step] & kMixedSchemas) != 0; }
  bool floats_only(size_t step) const { return flags_[step] == kFloat; }
  bool empty(size_t step) const { return flags_[step] == 0; }

  void Add(size_t step, const FloatHistogram& histogram, LabelSpan labels, RowNotes* notes) {
    // Of a group that began with floats no result is left to compute.
    const bool began_with_floats = flags_[step] == kFloat;
    flags_[step] |= kHistogram;
    if (cells_.empty()) cells_.resize(flags_.size());
    if (began_with_floats || (cells_[step] == nullptr && (flags_[step] & kFloat) != 0)) return;
    if (histogram.hint == CounterResetHint::kReset) flags_[step] |= kReset;
    if (histogram.hint == CounterResetHint::kNotReset) flags_[step] |= kNotReset;
    if (cells_[step] == nullptr) cells_[step] = std::make_unique<Accumulator>();
    const Combined combined = cells_[step]->Add(histogram);
    if (!combined.compatible) {
      notes->AddMixedSchemas(labels);
      flags_[step] |= kMixedSchemas;
    }
    if (combined.bounds_reconciled) notes->Add(Note::kReconciledInAggregation);
  }

  // The step's histogram, if it has one. REQUIRES: !floats_only(step), !empty(step).
  HistogramPtr Finish(size_t step, RowNotes* notes) {
    const uint8_t flags = flags_[step];
    if ((flags & kFloat) != 0) {
      notes->Add(Note::kMixedInAggregation);
      return nullptr;
    }
    if ((flags & kMixedSchemas) != 0) return nullptr;
    FloatHistogram result = cells_[step]->Take();
    model::Compact(&result);
    if ((flags & kReset) != 0 && (flags & kNotReset) != 0) {
      notes->Add(Note::kCollisionInAggregation);
    }
    return std::make_shared<const FloatHistogram>(std::move(result));
  }

  size_t num_bytes() const { return flags_.size() + cells_.size() * sizeof(cells_[0]); }

 private:
  std::vector<uint8_t> flags_;
  std::vector<std::unique_ptr<Accumulator>> cells_;
};

class SumRow final : public GroupRow {
 public:
  explicit SumRow(size_t num_steps)
      : sums_(num_steps, -0.0), compensations_(num_steps, 0), histograms_(num_steps) {}

  void Add(const Column& column, LabelSpan labels, RowNotes* notes) override {
    if (column.dense() && !histograms_seen_) {
      // Fast path: all steps have floats.
      AddCompensated(column.values(), sums_, compensations_);
      all_seen_ = true;
      return;
    }
    if (all_seen_) MarkAll();
    for (size_t step = 0; step < column.size(); ++step) {
      if (!column.has(step) || histograms_.skip(step)) continue;
      if (column.kind(step) == PointKind::kFloat) {
        histograms_.SawFloat(step);
        AddCompensated(column.values().subspan(step, 1), std::span(sums_).subspan(step, 1),
                       std::span(compensations_).subspan(step, 1));
      } else {
        histograms_seen_ = true;
        histograms_.Add(step, *column.histogram(step), labels, notes);
      }
    }
  }

  void Finish(RowNotes* notes, Column* out) override {
    if (all_seen_) MarkAll();
    out->Reset(sums_.size());
    for (size_t step = 0; step < sums_.size(); ++step) {
      if (histograms_.empty(step)) continue;
      if (histograms_.floats_only(step)) {
        out->SetFloat(step, sums_[step] + compensations_[step]);
      } else if (HistogramPtr sum = histograms_.Finish(step, notes)) {
        out->SetHistogram(step, std::move(sum));
      }
    }
  }

  size_t num_bytes() const override { return 16 * sums_.size() + histograms_.num_bytes(); }

 private:
  // Makes up for the fast path's not marking steps.
  void MarkAll() {
    for (size_t step = 0; step < sums_.size(); ++step) histograms_.SawFloat(step);
    all_seen_ = false;
  }

  std::vector<double> sums_, compensations_;
  HistogramCells<HistogramSum> histograms_;
  bool histograms_seen_ = false;
  bool all_seen_ = false;  // Every step saw a float, which histograms_ does not know yet.
};

class AvgRow final : public GroupRow {
 public:
  explicit AvgRow(size_t num_steps) : means_(num_steps), histograms_(num_steps) {}

  void Add(const Column& column, LabelSpan labels, RowNotes* notes) override {
    for (size_t step = 0; step < column.size(); ++step) {
      if (!column.has(step) || histograms_.skip(step)) continue;
      if (column.kind(step) == PointKind::kFloat) {
        histograms_.SawFloat(step);
        means_[step].Add(column.value(step));
      } else {
        histograms_.Add(step, *column.histogram(step), labels, notes);
      }
    }
  }

  void Finish(RowNotes* notes, Column* out) override {
    out->Reset(means_.size());
    for (size_t step = 0; step < means_.size(); ++step) {
      if (histograms_.empty(step)) continue;
      if (histograms_.floats_only(step)) {
        out->SetFloat(step, means_[step].value());
      } else if (HistogramPtr mean = histograms_.Finish(step, notes)) {
        out->SetHistogram(step, std::move(mean));
      }
    }
  }

  size_t num_bytes() const override {
    return sizeof(FloatMean) * means_.size() + histograms_.num_bytes();
  }

 private:
  std::vector<FloatMean> means_;
  HistogramCells<HistogramMean> histograms_;
};

// max, and min by the other comparison.
template <bool (*Replaces)(double candidate, double best)>
class ExtremeRow final : public GroupRow {
 public:
  explicit ExtremeRow(size_t num_steps) { best_.Reset(num_steps); }

  void Add(const Column& column, LabelSpan, RowNotes* notes) override {
    if (column.num_histograms() != 0) notes->AddIgnored();
    for (size_t step = 0; step < column.size(); ++step) {
      if (column.kind(step) != PointKind::kFloat) continue;
      if (!best_.has(step) || Replaces(column.value(step), best_.value(step))) {
        best_.SetFloat(step, column.value(step));
      }
    }
  }
  void Finish(RowNotes*, Column* out) override { *out = std::move(best_); }
  size_t num_bytes() const override { return best_.num_bytes(); }

 private:
  Column best_;
};

class CountRow final : public GroupRow {
 public:
  explicit CountRow(size_t num_steps) : counts_(num_steps, 0) {}

  void Add(const Column& column, LabelSpan, RowNotes*) override {
    for (size_t step = 0; step < column.size(); ++step) counts_[step] += column.has(step) ? 1 : 0;
  }
  void Finish(RowNotes*, Column* out) override {
    out->Reset(counts_.size());
    for (size_t step = 0; step < counts_.size(); ++step) {
      if (counts_[step] != 0) out->SetFloat(step, static_cast<double>(counts_[step]));
    }
  }
  size_t num_bytes() const override { return sizeof(uint32_t) * counts_.size(); }

 protected:
  std::vector<uint32_t> counts_;
};

class PresenceRow final : public GroupRow {
 public:
  explicit PresenceRow(size_t num_steps) { seen_.Reset(num_steps); }

  void Add(const Column& column, LabelSpan, RowNotes*) override {
    for (size_t step = 0; step < column.size(); ++step) {
      if (column.has(step)) seen_.SetFloat(step, 1);
    }
  }
  void Finish(RowNotes*, Column* out) override { *out = std::move(seen_); }
  size_t num_bytes() const override { return seen_.num_bytes(); }

 private:
  Column seen_;
};

class VarianceRow final : public GroupRow {
 public:
  VarianceRow(size_t num_steps, bool deviation)
      : cells_(num_steps), seen_(num_steps, false), deviation_(deviation) {}

  void Add(const Column& column, LabelSpan, RowNotes* notes) override {
    if (column.num_histograms() != 0) notes->AddIgnored();
    for (size_t step = 0; step < column.size(); ++step) {
      if (column.kind(step) != PointKind::kFloat) continue;
      cells_[step].Add(column.value(step));
      seen_[step] = true;
    }
  }
  void Finish(RowNotes*, Column* out) override {
    out->Reset(cells_.size());
    for (size_t step = 0; step < cells_.size(); ++step) {
      if (!seen_[step]) continue;
      out->SetFloat(step, deviation_ ? cells_[step].deviation() : cells_[step].variance());
    }
  }
  size_t num_bytes() const override { return sizeof(FloatVariance) * cells_.size(); }

 private:
  std::vector<FloatVariance> cells_;
  std::vector<bool> seen_;
  const bool deviation_;
};

}  // namespace

std::unique_ptr<GroupRow> NewGroupRow(AggregateOp op, size_t num_steps) {
  switch (op) {
    case AggregateOp::kSum:
      return std::make_unique<SumRow>(num_steps);
    case AggregateOp::kAvg:
      return std::make_unique<AvgRow>(num_steps);
    case AggregateOp::kCount:
      return std::make_unique<CountRow>(num_steps);
    case AggregateOp::kMin:
      return std::make_unique<ExtremeRow<ReplacesMin>>(num_steps);
    case AggregateOp::kMax:
      return std::make_unique<ExtremeRow<ReplacesMax>>(num_steps);
    case AggregateOp::kGroup:
      return std::make_unique<PresenceRow>(num_steps);
    case AggregateOp::kStddev:
      return std::make_unique<VarianceRow>(num_steps, true);
    case AggregateOp::kStdvar:
      return std::make_unique<VarianceRow>(num_steps, false);
    default:
      break;
  }
  NX_CHECK(false);
  return nullptr;
}

}  // namespace narthex::promql
