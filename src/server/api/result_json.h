// Query results as JSON. Free functions.
#pragma once

#include "narthex/promql/engine.h"
#include "server/api/envelope.h"

namespace narthex::server {

// Writes {"resultType":...,"result":...[,"stats":...]} as the data of `*response`. At most `limit`
// series if it is not 0; true if some were left out. Stops early when the client is gone.
enum class WithStats : uint8_t { kNo, kYes };
bool WriteResult(const promql::QueryResult& result, size_t limit, WithStats with_stats,
                 DataResponse* response);

// Labels as an object; `labels` are sorted by the text of their names.
void WriteLabels(std::span<const model::SymbolLabel> labels, const model::SymbolTable& symbols,
                 JsonWriter* json);

}  // namespace narthex::server
