#include "model/histogram_kernels.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "narthex/model/kahan.h"

namespace narthex::model {

void AddRun(std::span<double> target, std::span<const double> values) {
  double* const __restrict to = target.data();
  const double* const __restrict from = values.data();
  for (size_t i = 0; i < target.size(); ++i) to[i] += from[i];
}

void SubtractRun(std::span<double> target, std::span<const double> values) {
  double* const __restrict to = target.data();
  const double* const __restrict from = values.data();
  for (size_t i = 0; i < target.size(); ++i) to[i] -= from[i];
}

namespace {

// The sign bit is set if the value is 2^1023 or more, infinite or NaN, so that a sum of two such
// may not be finite: adding two to the exponent carries then. Integers only, so that it vectorises.
constexpr uint64_t kExponentOne = uint64_t{1} << 52;
constexpr uint64_t kSignBit = uint64_t{1} << 63;
uint64_t CarriesIfHuge(double value) {
  return (std::bit_cast<uint64_t>(value) & ~kSignBit) + 2 * kExponentOne;
}

bool AnyHuge(const double* a, const double* b, size_t size) {
  uint64_t carries = 0;
  for (size_t i = 0; i < size; ++i) carries |= CarriesIfHuge(a[i]) | CarriesIfHuge(b[i]);
  return (carries & kSignBit) != 0;
}

}  // namespace

void AddRunCompensated(std::span<double> target, std::span<double> compensation,
                       std::span<const double> values) {
  double* const __restrict sums = target.data();
  double* const __restrict lost = compensation.data();
  const double* const __restrict from = values.data();
  if (AnyHuge(sums, from, target.size())) {
    // Slow path: a sum may overflow.
    for (size_t i = 0; i < target.size(); ++i) {
      KahanSum sum{sums[i], lost[i]};
      sum.Add(from[i]);
      sums[i] = sum.sum;
      lost[i] = sum.compensation;
    }
    return;
  }
  // Fast path: the rounding error of a finite sum, exact like that of KahanSum::Add() but without
  // asking which of the two is larger (Knuth's TwoSum).
  for (size_t i = 0; i < target.size(); ++i) {
    const double total = sums[i] + from[i];
    const double added = total - sums[i];
    lost[i] += (sums[i] - (total - added)) + (from[i] - added);
    sums[i] = total;
  }
}

void MultiplyRun(std::span<double> values, double factor) {
  for (double& value : values) value *= factor;
}

void DivideRun(std::span<double> values, double divisor) {
  for (double& value : values) value /= divisor;
}

bool AnyLess(std::span<const double> current, std::span<const double> previous) {
  const double* const now = current.data();
  const double* const before = previous.data();
  int any = 0;
  for (size_t i = 0; i < current.size(); ++i) any |= now[i] < before[i] ? 1 : 0;
  return any != 0;
}

bool AnyZero(std::span<const double> values) {
  int any = 0;
  for (const double value : values) any |= value == 0 ? 1 : 0;
  return any != 0;
}

double LargestMagnitude(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    const double magnitude = std::abs(value);
    largest = magnitude > largest ? magnitude : largest;
  }
  return largest;
}

}  // namespace narthex::model
