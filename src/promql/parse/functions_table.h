// All functions of the language: names, argument types, what they return. Immutable; lives for the
// process.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace narthex::promql {

enum class ExprType : uint8_t { kNone, kScalar, kString, kVector, kMatrix };

// "scalar", "string", "instant vector", "range vector": as messages name types.
std::string_view ExprTypeName(ExprType type);

enum class FunctionId : uint8_t {
  kAbs,
  kAbsent,
  kAbsentOverTime,
  kAcos,
  kAcosh,
  kAsin,
  kAsinh,
  kAtan,
  kAtanh,
  kAvgOverTime,
  kCeil,
  kChanges,
  kClamp,
  kClampMax,
  kClampMin,
  kCos,
  kCosh,
  kCountOverTime,
  kDayOfMonth,
  kDayOfWeek,
  kDayOfYear,
  kDaysInMonth,
  kDeg,
  kDelta,
  kDeriv,
  kDoubleExponentialSmoothing,
  kEnd,
  kExp,
  kFirstOverTime,
  kFloor,
  kHistogramAvg,
  kHistogramCount,
  kHistogramFraction,
  kHistogramQuantile,
  kHistogramQuantiles,
  kHistogramStddev,
  kHistogramStdvar,
  kHistogramSum,
  kHour,
  kIdelta,
  kIncrease,
  kInfo,
  kIrate,
  kLabelJoin,
  kLabelReplace,
  kLastOverTime,
  kLn,
  kLog10,
  kLog2,
  kMadOverTime,
  kMaxOf,
  kMaxOverTime,
  kMinOf,
  kMinOverTime,
  kMinute,
  kMonth,
  kPi,
  kPredictLinear,
  kPresentOverTime,
  kQuantileOverTime,
  kRad,
  kRange,
  kRate,
  kResets,
  kRound,
  kScalar,
  kSgn,
  kSin,
  kSinh,
  kSort,
  kSortByLabel,
  kSortByLabelDesc,
  kSortDesc,
  kSqrt,
  kStart,
  kStartTimestamp,
  kStddevOverTime,
  kStdvarOverTime,
  kStep,
  kSumOverTime,
  kTan,
  kTanh,
  kTime,
  kTimestamp,
  kTsOfFirstOverTime,
  kTsOfLastOverTime,
  kTsOfMaxOverTime,
  kTsOfMinOverTime,
  kVector,
  kYear,
};

enum class Stability : uint8_t { kStable, kExperimental };

struct Signature {
  FunctionId id;
  std::string_view name;
  // The last type is that of all further arguments, if `variadic` allows them.
  std::span<const ExprType> arg_types;
  // 0: as many arguments as types. n > 0: the last type is optional, at most n times. -1: any
  // number of the last type, also none.
  int variadic;
  ExprType return_type;
  Stability stability;
};

// Null if there is no such function. Names are case-sensitive.
const Signature* FindFunction(std::string_view name);

// Sorted by name.
std::span<const Signature> AllFunctions();

}  // namespace narthex::promql
