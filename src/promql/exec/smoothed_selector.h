// Instant vector selectors with `smoothed`: at each step the value between the samples before and
// after it, each within the lookback. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "promql/exec/operator.h"
#include "promql/exec/range_source.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

class SmoothedSelector final : public Operator {
 public:
  // `selector` must outlive this.
  SmoothedSelector(QueryContext* context, const StepGrid& grid, const VectorSelector* selector);
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  void SmoothFloats(const Window& window, size_t step, Column* out) const;
  void SmoothHistograms(const Window& window, size_t step, NoteSet* notes, Column* out) const;

  SelectorSource source_;
  const uint32_t position_;
};

}  // namespace narthex::promql
