// The tree as text again. Free functions; thread-safe.
#pragma once

#include <string>

#include "promql/parse/ast.h"

namespace narthex::promql {

// The canonical text, which parses to an equal tree.
std::string ToString(const Expr& expr);
void AppendText(std::string* out, const Expr& expr);

// The same over several lines, indented, where a part of it has more than 100 bytes.
std::string ToPrettyString(const Expr& expr);

// Parts of the text: `sum by (a) `, `/ on (a) group_left (b)`, `[5m:1m] offset 3m`.
void AppendAggregationHead(std::string* out, const Aggregation& aggregation);
void AppendOperator(std::string* out, const Binary& binary);
void AppendSubquerySuffix(std::string* out, const Subquery& subquery);

}  // namespace narthex::promql
