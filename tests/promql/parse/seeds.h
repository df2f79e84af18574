// What the parser's fuzz target starts from, and the properties it checks.
#pragma once

#include <span>
#include <string_view>

namespace narthex::promql {

std::span<const std::string_view> QuerySeeds();

// Parses; a query that is good must have a canonical text that parses to itself. Ends the process
// if it has not.
void CheckParser(std::string_view query);

}  // namespace narthex::promql
