#include "promql/functions/instant_functions.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "narthex/model/histogram_buckets.h"
#include "narthex/model/kahan.h"
#include "narthex/model/stale.h"
#include "promql/functions/civil_time.h"

namespace narthex::promql {
namespace {

using model::BucketCursor;
using model::BucketOrder;
using model::HistogramBucket;
using model::HistogramView;

template <double (*Function)(double)>
void Each(std::span<double> values) {
  for (double& value : values) value = Function(value);
}

double Absolute(double x) { return std::abs(x); }
double Ceil(double x) { return std::ceil(x); }
double Floor(double x) { return std::floor(x); }
double Exp(double x) { return std::exp(x); }
double SquareRoot(double x) { return std::sqrt(x); }
double Ln(double x) { return std::log(x); }
// Exact for powers of two; otherwise as Go computes it, last bit included where it can be had.
double Log2(double x) {
  if (!(x > 0) || std::isinf(x)) return std::log2(x);
  int exponent;
  const double fraction = std::frexp(x, &exponent);
  if (fraction == 0.5) return exponent - 1;
  return std::log(fraction) * std::numbers::log2e + exponent;
}
double Log10(double x) {
  constexpr double kLog10Of2 = 0.30102999566398119521373889472449302677;
  return Log2(x) * kLog10Of2;
}
double Sign(double x) { return x < 0 ? -1 : x > 0 ? 1 : x; }
double Degrees(double x) { return x * 180 / std::numbers::pi; }
double Radians(double x) { return x * std::numbers::pi / 180; }
double Sin(double x) { return std::sin(x); }
double Cos(double x) { return std::cos(x); }
double Tan(double x) { return std::tan(x); }
double Asin(double x) { return std::asin(x); }
double Acos(double x) { return std::acos(x); }
double Atan(double x) { return std::atan(x); }
double Sinh(double x) { return std::sinh(x); }
double Cosh(double x) { return std::cosh(x); }
double Tanh(double x) { return std::tanh(x); }
double Asinh(double x) { return std::asinh(x); }
double Acosh(double x) { return std::acosh(x); }
double Atanh(double x) { return std::atanh(x); }

// Seconds of a float, cut towards zero; what does not fit is the smallest integer.
CivilTime DateOf(double seconds) {
  constexpr double kLimit = 9223372036854775808.0;
  const bool fits = seconds >= -kLimit && seconds < kLimit;
  return ToCivilTime(fits ? static_cast<int64_t>(seconds) : std::numeric_limits<int64_t>::min());
}
double DayOfMonth(double x) { return DateOf(x).day; }
double DayOfWeek(double x) { return DateOf(x).day_of_week; }
double DayOfYear(double x) { return DateOf(x).day_of_year; }
double DaysInMonth(double x) { return DateOf(x).days_in_month; }
double Hour(double x) { return DateOf(x).hour; }
double Minute(double x) { return DateOf(x).minute; }
double Month(double x) { return DateOf(x).month; }
double Year(double x) { return static_cast<double>(DateOf(x).year); }

struct NamedFloatKernel {
  std::string_view name;
  FloatKernel kernel;
};
constexpr NamedFloatKernel kFloatKernels[] = {
    {"abs", Each<Absolute>},
    {"acos", Each<Acos>},
    {"acosh", Each<Acosh>},
    {"asin", Each<Asin>},
    {"asinh", Each<Asinh>},
    {"atan", Each<Atan>},
    {"atanh", Each<Atanh>},
    {"ceil", Each<Ceil>},
    {"cos", Each<Cos>},
    {"cosh", Each<Cosh>},
    {"day_of_month", Each<DayOfMonth>},
    {"day_of_week", Each<DayOfWeek>},
    {"day_of_year", Each<DayOfYear>},
    {"days_in_month", Each<DaysInMonth>},
    {"deg", Each<Degrees>},
    {"exp", Each<Exp>},
    {"floor", Each<Floor>},
    {"hour", Each<Hour>},
    {"ln", Each<Ln>},
    {"log10", Each<Log10>},
    {"log2", Each<Log2>},
    {"minute", Each<Minute>},
    {"month", Each<Month>},
    {"rad", Each<Radians>},
    {"sgn", Each<Sign>},
    {"sin", Each<Sin>},
    {"sinh", Each<Sinh>},
    {"sqrt", Each<SquareRoot>},
    {"tan", Each<Tan>},
    {"tanh", Each<Tanh>},
    {"year", Each<Year>},
};

double Count(const HistogramView& histogram) { return histogram.count; }
double Sum(const HistogramView& histogram) { return histogram.sum; }
double Average(const HistogramView& histogram) { return histogram.sum / histogram.count; }

// The value all observations of a bucket are taken to have.
double Representative(const HistogramBucket& bucket, bool custom) {
  if (custom) return (bucket.upper + bucket.lower) / 2;
  if (bucket.lower <= 0 && bucket.upper >= 0) return 0;
  const double mean = std::sqrt(bucket.upper * bucket.lower);
  return bucket.upper < 0 ? -mean : mean;
}

double Variance(const HistogramView& histogram) {
  const double mean = histogram.sum / histogram.count;
  const bool custom = histogram.has_custom_buckets();
  model::KahanSum squares;
  BucketCursor cursor(histogram, BucketOrder::kAscending);
  while (cursor.Next()) {
    if (cursor.count() == 0) continue;
    const double delta = Representative(cursor.bucket(), custom) - mean;
    squares.Add(cursor.count() * delta * delta);
  }
  return squares.value() / histogram.count;
}

double Deviation(const HistogramView& histogram) { return std::sqrt(Variance(histogram)); }

struct NamedHistogramKernel {
  std::string_view name;
  HistogramKernel kernel;
};
constexpr NamedHistogramKernel kHistogramKernels[] = {
    {"histogram_avg", Average},     {"histogram_count", Count}, {"histogram_stddev", Deviation},
    {"histogram_stdvar", Variance}, {"histogram_sum", Sum},
};

}  // namespace

FloatKernel FindFloatFunction(std::string_view name) {
  for (const NamedFloatKernel& named : kFloatKernels) {
    if (named.name == name) return named.kernel;
  }
  return nullptr;
}

HistogramKernel FindHistogramFunction(std::string_view name) {
  for (const NamedHistogramKernel& named : kHistogramKernels) {
    if (named.name == name) return named.kernel;
  }
  return nullptr;
}

double MaxOf(double a, double b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a == kInfinity || b == kInfinity) return kInfinity;
  if (std::isnan(a) || std::isnan(b)) return model::NormalNan();
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

double MinOf(double a, double b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a == -kInfinity || b == -kInfinity) return -kInfinity;
  if (std::isnan(a) || std::isnan(b)) return model::NormalNan();
  if (a == 0 && b == 0) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

void Clamp(std::span<double> values, double min, double max) {
  for (double& value : values) value = MaxOf(min, MinOf(max, value));
}

void Round(std::span<double> values, double to_nearest) {
  // Multiplying by the inverse loses less than dividing by a decimal fraction.
  const double inverse = 1.0 / to_nearest;
  for (double& value : values) value = std::floor(value * inverse + 0.5) / inverse;
}

}  // namespace narthex::promql
