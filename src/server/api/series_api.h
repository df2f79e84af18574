// /api/v1/series, /api/v1/labels and /api/v1/label/<name>/values. Thread-safe, free functions.
#pragma once

#include "narthex/base/clock.h"
#include "narthex/model/queryable.h"
#include "server/api/envelope.h"
#include "server/api/params.h"

namespace narthex::server {

void HandleSeries(const Params& params, const model::Queryable& queryable, Writer writer);
void HandleLabels(const Params& params, const model::Queryable& queryable, Writer writer);
// `name` as it stands in the path, "U__" escapes included.
void HandleLabelValues(std::string_view name, const Params& params,
                       const model::Queryable& queryable, Writer writer);

// The label name of a "U__..." form ("U__a_2e_b" is "a.b"); any other text is itself. Malformed
// escapes leave the text as it is.
std::string UnescapeLabelName(std::string_view name);

}  // namespace narthex::server
