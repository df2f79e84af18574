// The rules of a tree that its grammar does not tell: argument types and numbers, matching
// modifiers, selectors that would select everything. Free functions; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "promql/parse/ast.h"

namespace narthex::promql {

struct ParseError {
  int32_t offset = 0;
  std::string text;
};

// The first rule broken, if any. Sets the cardinality of set operators, marks the second argument
// of info(). `text` is the query.
std::optional<ParseError> CheckTypes(std::string_view text, Expr* root);

}  // namespace narthex::promql
