// What can be said of a query's text without running it. Free functions; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "narthex/promql/engine.h"

namespace narthex::promql {

// The canonical text of a query. kInvalidArgument as Engine::CheckSyntax().
absl::StatusOr<std::string> CanonicalText(std::string_view text, const EngineOptions& options);

// The canonical text over several lines where it is long: what formatting a query gives.
absl::StatusOr<std::string> PrettyText(std::string_view text, const EngineOptions& options);

// The query with its selectors and subqueries fixed at `time_ms` by `@`, so that it has the same
// result at any evaluation time; those that have an `@` with a time keep it. nullopt if the query
// holds a function of the evaluation time. kInvalidArgument as Engine::CheckSyntax().
absl::StatusOr<std::optional<std::string>> PinnedText(std::string_view text, int64_t time_ms,
                                                      const EngineOptions& options);

}  // namespace narthex::promql
