// Which metrics belong to a metric family. Pure.
#pragma once

#include <string_view>

#include "narthex/model/metadata.h"

namespace narthex::scrape {

// Whether a series named `metric` is of `family`: histograms have _bucket, _sum and _count, and so
// on.
bool IsOfFamily(std::string_view metric, std::string_view family, model::MetricType type);

}  // namespace narthex::scrape
