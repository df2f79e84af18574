// info(): adds labels of info series, such as target_info, to the series of the same job and
// instance. Which info series counts may change from step to step, and with it the labels: so all
// is computed before the series are known. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "promql/exec/instant_selector.h"
#include "promql/exec/operator.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

class InfoOperator final : public Operator {
 public:
  // `call` must outlive this.
  static absl::StatusOr<OperatorPtr> Create(QueryContext* context, OperatorPtr input,
                                            const Call& call);
  absl::Status Prepare() override;
  absl::Status Read(size_t index, Column* out) override;

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;

  // Info series of one name, job and instance; at each step the one with the newest sample.
  struct Source {
    std::vector<uint32_t> winner;  // Per step, kNobody without one.
    std::vector<double> time;      // Of the winner's sample.
  };
  InfoOperator(QueryContext* context, OperatorPtr input);

  bool IsInfoSeries(LabelSpan labels) const;
  absl::Status SelectInfo();
  absl::Status AddIdentityMatchers(bool* any);
  absl::Status ReadInfo();
  absl::Status Rival(uint32_t series, size_t step, Column* times, Source* source);
  absl::Status Enrich(uint32_t series, const Column& column);
  absl::Status ResultFor(uint32_t series, const std::vector<uint32_t>& winners, uint32_t* result);
  absl::Status AddInfoLabels(uint32_t winner, LabelSpan base,
                             std::vector<model::SymbolLabel>* added) const;
  void AppendIdentity(LabelSpan labels, std::vector<model::SymbolLabel>* out) const;
  bool Wanted(model::Symbol name) const;

  const OperatorPtr input_;
  std::vector<model::Matcher> name_matchers_;  // What makes a series an info series.
  std::vector<model::Matcher> data_matchers_;
  std::vector<model::Symbol> data_names_;
  std::vector<model::Symbol> identity_names_;
  VectorSelector info_selector_;
  std::unique_ptr<InstantSelector> info_;  // Null if nothing has an identity.

  LabelSetIndex identities_;
  LabelSetIndex info_names_;
  std::vector<std::vector<Source>> sources_;  // Per identity, per info name.
  LabelSetIndex results_;
  std::vector<bool> drop_names_;
  std::vector<Column> columns_;  // Per result.
};

}  // namespace narthex::promql
