#include "promql/parse/functions_table.h"

#include <algorithm>
#include <array>

namespace narthex::promql {
namespace {

using Type = ExprType;
using Id = FunctionId;

// Argument lists: V instant vector, M range vector, S scalar, T string.
constexpr Type kM[] = {Type::kMatrix};
constexpr Type kS[] = {Type::kScalar};
constexpr Type kV[] = {Type::kVector};
constexpr Type kMS[] = {Type::kMatrix, Type::kScalar};
constexpr Type kSM[] = {Type::kScalar, Type::kMatrix};
constexpr Type kSS[] = {Type::kScalar, Type::kScalar};
constexpr Type kSV[] = {Type::kScalar, Type::kVector};
constexpr Type kVS[] = {Type::kVector, Type::kScalar};
constexpr Type kVT[] = {Type::kVector, Type::kString};
constexpr Type kVV[] = {Type::kVector, Type::kVector};
constexpr Type kMSS[] = {Type::kMatrix, Type::kScalar, Type::kScalar};
constexpr Type kSSV[] = {Type::kScalar, Type::kScalar, Type::kVector};
constexpr Type kVSS[] = {Type::kVector, Type::kScalar, Type::kScalar};
constexpr Type kVTSS[] = {Type::kVector, Type::kString, Type::kScalar, Type::kScalar};
constexpr Type kVTTT[] = {Type::kVector, Type::kString, Type::kString, Type::kString};
constexpr Type kVTTTT[] = {Type::kVector, Type::kString, Type::kString, Type::kString,
                           Type::kString};

constexpr Stability kStable = Stability::kStable;
constexpr Stability kExperimental = Stability::kExperimental;

constexpr std::array<Signature, 90> kFunctions = {{
    {Id::kAbs, "abs", kV, 0, Type::kVector, kStable},
    {Id::kAbsent, "absent", kV, 0, Type::kVector, kStable},
    {Id::kAbsentOverTime, "absent_over_time", kM, 0, Type::kVector, kStable},
    {Id::kAcos, "acos", kV, 0, Type::kVector, kStable},
    {Id::kAcosh, "acosh", kV, 0, Type::kVector, kStable},
    {Id::kAsin, "asin", kV, 0, Type::kVector, kStable},
    {Id::kAsinh, "asinh", kV, 0, Type::kVector, kStable},
    {Id::kAtan, "atan", kV, 0, Type::kVector, kStable},
    {Id::kAtanh, "atanh", kV, 0, Type::kVector, kStable},
    {Id::kAvgOverTime, "avg_over_time", kM, 0, Type::kVector, kStable},
    {Id::kCeil, "ceil", kV, 0, Type::kVector, kStable},
    {Id::kChanges, "changes", kM, 0, Type::kVector, kStable},
    {Id::kClamp, "clamp", kVSS, 0, Type::kVector, kStable},
    {Id::kClampMax, "clamp_max", kVS, 0, Type::kVector, kStable},
    {Id::kClampMin, "clamp_min", kVS, 0, Type::kVector, kStable},
    {Id::kCos, "cos", kV, 0, Type::kVector, kStable},
    {Id::kCosh, "cosh", kV, 0, Type::kVector, kStable},
    {Id::kCountOverTime, "count_over_time", kM, 0, Type::kVector, kStable},
    {Id::kDayOfMonth, "day_of_month", kV, 1, Type::kVector, kStable},
    {Id::kDayOfWeek, "day_of_week", kV, 1, Type::kVector, kStable},
    {Id::kDayOfYear, "day_of_year", kV, 1, Type::kVector, kStable},
    {Id::kDaysInMonth, "days_in_month", kV, 1, Type::kVector, kStable},
    {Id::kDeg, "deg", kV, 0, Type::kVector, kStable},
    {Id::kDelta, "delta", kM, 0, Type::kVector, kStable},
    {Id::kDeriv, "deriv", kM, 0, Type::kVector, kStable},
    {Id::kDoubleExponentialSmoothing, "double_exponential_smoothing", kMSS, 0, Type::kVector,
     kExperimental},
    {Id::kEnd, "end", {}, 0, Type::kScalar, kExperimental},
    {Id::kExp, "exp", kV, 0, Type::kVector, kStable},
    {Id::kFirstOverTime, "first_over_time", kM, 0, Type::kVector, kStable},
    {Id::kFloor, "floor", kV, 0, Type::kVector, kStable},
    {Id::kHistogramAvg, "histogram_avg", kV, 0, Type::kVector, kStable},
    {Id::kHistogramCount, "histogram_count", kV, 0, Type::kVector, kStable},
    {Id::kHistogramFraction, "histogram_fraction", kSSV, 0, Type::kVector, kStable},
    {Id::kHistogramQuantile, "histogram_quantile", kSV, 0, Type::kVector, kStable},
    {Id::kHistogramQuantiles, "histogram_quantiles", kVTSS, 9, Type::kVector, kExperimental},
    {Id::kHistogramStddev, "histogram_stddev", kV, 0, Type::kVector, kStable},
    {Id::kHistogramStdvar, "histogram_stdvar", kV, 0, Type::kVector, kStable},
    {Id::kHistogramSum, "histogram_sum", kV, 0, Type::kVector, kStable},
    {Id::kHour, "hour", kV, 1, Type::kVector, kStable},
    {Id::kIdelta, "idelta", kM, 0, Type::kVector, kStable},
    {Id::kIncrease, "increase", kM, 0, Type::kVector, kStable},
    {Id::kInfo, "info", kVV, 1, Type::kVector, kExperimental},
    {Id::kIrate, "irate", kM, 0, Type::kVector, kStable},
    {Id::kLabelJoin, "label_join", kVTTT, -1, Type::kVector, kStable},
    {Id::kLabelReplace, "label_replace", kVTTTT, 0, Type::kVector, kStable},
    {Id::kLastOverTime, "last_over_time", kM, 0, Type::kVector, kStable},
    {Id::kLn, "ln", kV, 0, Type::kVector, kStable},
    {Id::kLog10, "log10", kV, 0, Type::kVector, kStable},
    {Id::kLog2, "log2", kV, 0, Type::kVector, kStable},
    {Id::kMadOverTime, "mad_over_time", kM, 0, Type::kVector, kExperimental},
    {Id::kMaxOf, "max_of", kSS, 0, Type::kScalar, kExperimental},
    {Id::kMaxOverTime, "max_over_time", kM, 0, Type::kVector, kStable},
    {Id::kMinOf, "min_of", kSS, 0, Type::kScalar, kExperimental},
    {Id::kMinOverTime, "min_over_time", kM, 0, Type::kVector, kStable},
    {Id::kMinute, "minute", kV, 1, Type::kVector, kStable},
    {Id::kMonth, "month", kV, 1, Type::kVector, kStable},
    {Id::kPi, "pi", {}, 0, Type::kScalar, kStable},
    {Id::kPredictLinear, "predict_linear", kMS, 0, Type::kVector, kStable},
    {Id::kPresentOverTime, "present_over_time", kM, 0, Type::kVector, kStable},
    {Id::kQuantileOverTime, "quantile_over_time", kSM, 0, Type::kVector, kStable},
    {Id::kRad, "rad", kV, 0, Type::kVector, kStable},
    {Id::kRange, "range", {}, 0, Type::kScalar, kExperimental},
    {Id::kRate, "rate", kM, 0, Type::kVector, kStable},
    {Id::kResets, "resets", kM, 0, Type::kVector, kStable},
    {Id::kRound, "round", kVS, 1, Type::kVector, kStable},
    {Id::kScalar, "scalar", kV, 0, Type::kScalar, kStable},
    {Id::kSgn, "sgn", kV, 0, Type::kVector, kStable},
    {Id::kSin, "sin", kV, 0, Type::kVector, kStable},
    {Id::kSinh, "sinh", kV, 0, Type::kVector, kStable},
    {Id::kSort, "sort", kV, 0, Type::kVector, kStable},
    {Id::kSortByLabel, "sort_by_label", kVT, -1, Type::kVector, kExperimental},
    {Id::kSortByLabelDesc, "sort_by_label_desc", kVT, -1, Type::kVector, kExperimental},
    {Id::kSortDesc, "sort_desc", kV, 0, Type::kVector, kStable},
    {Id::kSqrt, "sqrt", kV, 0, Type::kVector, kStable},
    {Id::kStart, "start", {}, 0, Type::kScalar, kExperimental},
    {Id::kStartTimestamp, "start_timestamp", kV, 0, Type::kVector, kExperimental},
    {Id::kStddevOverTime, "stddev_over_time", kM, 0, Type::kVector, kStable},
    {Id::kStdvarOverTime, "stdvar_over_time", kM, 0, Type::kVector, kStable},
    {Id::kStep, "step", {}, 0, Type::kScalar, kExperimental},
    {Id::kSumOverTime, "sum_over_time", kM, 0, Type::kVector, kStable},
    {Id::kTan, "tan", kV, 0, Type::kVector, kStable},
    {Id::kTanh, "tanh", kV, 0, Type::kVector, kStable},
    {Id::kTime, "time", {}, 0, Type::kScalar, kStable},
    {Id::kTimestamp, "timestamp", kV, 0, Type::kVector, kStable},
    {Id::kTsOfFirstOverTime, "ts_of_first_over_time", kM, 0, Type::kVector, kExperimental},
    {Id::kTsOfLastOverTime, "ts_of_last_over_time", kM, 0, Type::kVector, kExperimental},
    {Id::kTsOfMaxOverTime, "ts_of_max_over_time", kM, 0, Type::kVector, kExperimental},
    {Id::kTsOfMinOverTime, "ts_of_min_over_time", kM, 0, Type::kVector, kExperimental},
    {Id::kVector, "vector", kS, 0, Type::kVector, kStable},
    {Id::kYear, "year", kV, 1, Type::kVector, kStable},
}};

constexpr bool NameLess(const Signature& a, const Signature& b) { return a.name < b.name; }
static_assert(std::is_sorted(kFunctions.begin(), kFunctions.end(), NameLess));

}  // namespace

std::string_view ExprTypeName(ExprType type) {
  switch (type) {
    case ExprType::kNone:
      return "none";
    case ExprType::kScalar:
      return "scalar";
    case ExprType::kString:
      return "string";
    case ExprType::kVector:
      return "instant vector";
    case ExprType::kMatrix:
      return "range vector";
  }
  return "none";
}

const Signature* FindFunction(std::string_view name) {
  const auto found = std::lower_bound(
      kFunctions.begin(), kFunctions.end(), name,
      [](const Signature& signature, std::string_view wanted) { return signature.name < wanted; });
  return found != kFunctions.end() && found->name == name ? &*found : nullptr;
}

std::span<const Signature> AllFunctions() { return kFunctions; }

}  // namespace narthex::promql
