// Text to a checked tree. Free functions; thread-safe.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "narthex/promql/engine.h"
#include "promql/parse/ast.h"

namespace narthex::promql {

// Which parts of the language are on.
struct ParseOptions {
  bool experimental_functions = false;
  bool extended_ranges = false;
  bool fill_modifiers = false;
};
ParseOptions ParseOptionsOf(const EngineOptions& options);

// kInvalidArgument: "1:5: parse error: ..." with the first error found.
absl::StatusOr<ExprPtr> ParseExpression(std::string_view text, const ParseOptions& options);

}  // namespace narthex::promql
