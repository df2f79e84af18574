// How the series of two instant vectors find each other: on (...), ignoring (...), group_left,
// group_right. All of it is decided on labels, before any sample is read. Thread-compatible.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "promql/exec/context.h"
#include "promql/exec/series_list.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

// What series are matched by: equal signatures have equal numbers, 0, 1, 2...
class Signatures {
 public:
  Signatures(QueryContext* context, const VectorMatching& matching);

  // The signature of each series; may be called once per side.
  std::vector<uint32_t> NumberAll(const SeriesList& series);
  uint32_t count() const { return static_cast<uint32_t>(index_.size()); }

  // The labels of a match group as messages and fill values have them: those of `on`, or all but
  // the metric name and those of `ignoring`.
  void AppendMatchLabels(LabelSpan labels, std::vector<model::SymbolLabel>* out) const;

 private:
  const bool on_;
  std::vector<model::Symbol> names_;
  const model::Symbol name_symbol_;
  LabelSetIndex index_;
};

// Members of each signature, as lists into one array.
struct SignatureLists {
  std::vector<uint32_t> begins;  // Per signature, and an end.
  std::vector<uint32_t> members;
  std::span<const uint32_t> of(uint32_t signature) const {
    return std::span(members).subspan(begins[signature], begins[signature + 1] - begins[signature]);
  }
};
SignatureLists ListBySignature(const std::vector<uint32_t>& signature_of, uint32_t count);

// Labels of what an operator makes of two matched series; see Prometheus's rules of `on`,
// `ignoring` and `group_x(labels)`.
class ResultLabels {
 public:
  ResultLabels(QueryContext* context, const VectorMatching& matching, bool drop_metadata);
  // `many` are those of the side that may have several (left if neither may).
  void Compute(LabelSpan many, LabelSpan one, std::vector<model::SymbolLabel>* out) const;

 private:
  QueryContext* const context_;
  const bool one_to_one_;
  const bool on_;
  const bool drop_metadata_;
  std::vector<model::Symbol> names_;
  std::vector<model::Symbol> include_;
};

}  // namespace narthex::promql
