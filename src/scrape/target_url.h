// The URL of a target out of its labels. Pure.
#pragma once

#include <string>

#include "narthex/model/labels.h"
#include "narthex/scrape/options.h"

namespace narthex::scrape {

// `__scheme__`, `__address__` and `__metrics_path__`, and the pool's parameters, of which
// `__param_<name>` labels replace the first values; escaped and ordered as Go's net/url does.
std::string TargetUrl(const model::Labels& labels, const PoolOptions& options);

}  // namespace narthex::scrape
