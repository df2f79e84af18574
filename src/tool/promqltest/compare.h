// Whether a query's answer is what a script expects. Free functions; thread-safe.
#pragma once

#include "absl/status/status.h"
#include "narthex/promql/engine.h"
#include "tool/promqltest/script.h"

namespace narthex::tool {

// kFailedPrecondition: "expected ... got ...".
absl::Status CompareResult(const EvalCommand& eval, const promql::QueryResult& result);
absl::Status CompareAnnotations(const EvalCommand& eval, const promql::QueryResult& result);

// The instant at `time_ms` of a range query's answer, as an instant query of type `type` gives it.
promql::QueryResult InstantOf(const promql::QueryResult& range, promql::ValueType type,
                              int64_t time_ms);

// Equal up to a relative difference of a millionth of |a| + |b|. NaNs are equal, but the staleness
// marker is only equal to itself.
bool AlmostEqual(double a, double b);

}  // namespace narthex::tool
