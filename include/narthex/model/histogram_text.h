// Text forms of float histograms. Free functions; thread-safe.
#pragma once

#include <string>

#include "narthex/model/histogram_view.h"

namespace narthex::model {

// {count:12, sum:18.4, [-0.001,0.001]:2, (0.5,1]:10}: ascending, empty buckets left out.
std::string ToString(const HistogramView& histogram);

// {{schema:1 count:3 sum:5 buckets:[1 2]}}: the notation of rule and query tests, keys with their
// default value left out, one run of buckets per side.
std::string ToTestNotation(const HistogramView& histogram);

}  // namespace narthex::model
