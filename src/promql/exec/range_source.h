// Range vectors: for each series a window of samples that moves from step to step. Sources are
// selectors (decoded chunk by chunk as the window moves) and subqueries (an operator over a grid of
// its own). Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "narthex/model/queryable.h"
#include "promql/exec/instant_selector.h"
#include "promql/exec/operator.h"
#include "promql/exec/sample_buffer.h"
#include "promql/functions/window.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

class RangeSource {
 public:
  virtual ~RangeSource() = default;
  // As Operator::Prepare() and series().
  virtual absl::Status Prepare() = 0;
  const SeriesList& series() const { return *series_; }

  // Starts on a series, before its first window. Each series at most once.
  virtual absl::Status Seek(size_t index) = 0;
  // The window of the step at `time_ms`. REQUIRES: times do not decrease within a series.
  absl::Status MoveTo(int64_t time_ms, Window* window);

  // Of the window MoveTo() gave, as statistics count them.
  size_t num_samples() const { return buffer_.num_samples(); }
  // What MoveTo() read anew from the storage; 0 for a subquery, whose own selectors count.
  size_t num_read() const { return reads_storage_ ? buffer_.num_new_samples() : 0; }
  size_t num_bytes() const { return buffer_.num_bytes(); }

 protected:
  enum class Reads : uint8_t { kStorage, kOperator };
  RangeSource(QueryContext* context, DataTime data_time, int64_t range_ms, RangeMode mode,
              Reads reads, SampleBuffer::Hints hints);
  // Appends to buffer_ until it reaches `time_ms` or there is nothing more.
  virtual absl::Status Load(int64_t time_ms) = 0;

  // How far before and after the range the mode looks.
  int64_t reach_before_ms() const { return mode_ == RangeMode::kPlain ? 0 : context_->lookback_ms; }
  int64_t reach_after_ms() const {
    return mode_ == RangeMode::kSmoothed ? context_->lookback_ms : 0;
  }

  QueryContext* const context_;
  const DataTime data_time_;
  const int64_t range_ms_;
  const RangeMode mode_;
  const bool reads_storage_;
  SampleBuffer buffer_;
  const SeriesList* series_ = nullptr;
};

class SelectorSource final : public RangeSource {
 public:
  // The windows of the steps of `grid`. The selector must outlive this.
  SelectorSource(QueryContext* context, const StepGrid& grid, const MatrixSelector* matrix)
      : SelectorSource(context, grid, matrix->selector.get(), matrix->range.ms) {}
  SelectorSource(QueryContext* context, const StepGrid& grid, const VectorSelector* selector,
                 int64_t range_ms);
  absl::Status Prepare() override;
  absl::Status Seek(size_t index) override;

 private:
  absl::Status Load(int64_t time_ms) override;

  const VectorSelector& selector_;
  model::TimeRange times_;
  std::unique_ptr<model::SeriesSelection> selection_;
  std::unique_ptr<model::SeriesCursor> cursor_;
  SeriesList own_series_;
  bool at_end_ = false;
};

// The grid a subquery is evaluated on, for the steps of `grid`: multiples of its step that its
// windows can see.
StepGrid SubqueryGrid(const Subquery& subquery, const StepGrid& grid);

class SubquerySource final : public RangeSource {
 public:
  // `input` is the subquery's expression over SubqueryGrid().
  SubquerySource(QueryContext* context, const Subquery& subquery, OperatorPtr input);
  absl::Status Prepare() override;
  absl::Status Seek(size_t index) override;

 private:
  absl::Status Load(int64_t) override { return absl::OkStatus(); }

  const OperatorPtr input_;
  Column column_;
};

}  // namespace narthex::promql
