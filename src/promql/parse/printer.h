// The tree as text again. Free functions; thread-safe.
#pragma once

#include <string>

#include "promql/parse/ast.h"

namespace narthex::promql {

// The canonical text, which parses to an equal tree.
std::string ToString(const Expr& expr);
void AppendText(std::string* out, const Expr& expr);

}  // namespace narthex::promql
