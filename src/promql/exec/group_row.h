// Running results of one group of an aggregation, a cell per step. Series are added column by
// column; nothing of them is kept. Thread-compatible.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "promql/exec/column.h"
#include "promql/exec/context.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

// What rows say to the user, and where.
class RowNotes {
 public:
  // `position` is where the aggregated expression begins.
  RowNotes(QueryContext* context, AggregateOp op, uint32_t position)
      : context_(context), op_(op), position_(position) {}
  void Add(Note note) { context_->annotations.Add(note, position_); }
  void AddMixedSchemas(LabelSpan labels) {
    context_->annotations.Add(Note::kMixedSchemas, position_, context_->MetricName(labels));
  }
  void AddIgnored() {
    context_->annotations.AddIgnoredInAggregation(AggregateOpName(op_), position_);
  }

 private:
  QueryContext* const context_;
  const AggregateOp op_;
  const uint32_t position_;
};

class GroupRow {
 public:
  virtual ~GroupRow() = default;
  // Adds the points of a series of the group; `labels` are the series'.
  virtual void Add(const Column& column, LabelSpan labels, RowNotes* notes) = 0;
  // Writes the results; the row is used up.
  virtual void Finish(RowNotes* notes, Column* out) = 0;
  virtual size_t num_bytes() const = 0;
};

// Of sum, avg, count, min, max, group, stddev, stdvar.
std::unique_ptr<GroupRow> NewGroupRow(AggregateOp op, size_t num_steps);

}  // namespace narthex::promql
