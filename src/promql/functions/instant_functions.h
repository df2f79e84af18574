// Functions of single samples: mathematics and dates over columns of floats, statistics of native
// histograms. Pure kernels; thread-safe.
#pragma once

#include <span>
#include <string_view>

#include "narthex/model/histogram_view.h"

namespace narthex::promql {

// Replaces each value by the function of it.
using FloatKernel = void (*)(std::span<double> values);

// abs ceil floor exp sqrt ln log2 log10 sgn deg rad, trigonometric and hyperbolic functions, and
// the date functions (day_of_month ... year) of Unix seconds in UTC. Null for any other name.
FloatKernel FindFloatFunction(std::string_view name);

// clamp(v, min, max). The caller leaves the result empty if max < min.
void Clamp(std::span<double> values, double min, double max);
// round(v, to_nearest); ties go up.
void Round(std::span<double> values, double to_nearest);

// Go's math.Max and math.Min: an infinity of the wanted sign wins, then NaN; +0 over -0.
double MaxOf(double a, double b);
double MinOf(double a, double b);

// A float from a native histogram.
using HistogramKernel = double (*)(const model::HistogramView& histogram);

// histogram_count, _sum, _avg, _stddev, _stdvar. Null for any other name.
HistogramKernel FindHistogramFunction(std::string_view name);

}  // namespace narthex::promql
