// label_replace() and label_join(): labels change before any sample is read. Thread-compatible.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "narthex/base/regex.h"
#include "promql/exec/operator.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

// kFailedPrecondition with Prometheus's text: a name or the regular expression is not valid.
// REQUIRES: `call` is of that function; its string arguments are literals.
absl::StatusOr<OperatorPtr> NewLabelReplace(QueryContext* context, OperatorPtr input,
                                            const Call& call);
absl::StatusOr<OperatorPtr> NewLabelJoin(QueryContext* context, OperatorPtr input,
                                         const Call& call);

// The text of a string argument.
const std::string& StringArgument(const Expr& argument);

}  // namespace narthex::promql
