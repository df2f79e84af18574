#include "model/histogram_kernels.h"

#include <cmath>
#include <cstddef>
#include <limits>

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

void AddRunCompensated(std::span<double> target, std::span<double> compensation,
                       std::span<const double> values) {
  double* const __restrict sums = target.data();
  double* const __restrict lost = compensation.data();
  const double* const __restrict from = values.data();
  constexpr double kMax = std::numeric_limits<double>::max();
  for (size_t i = 0; i < target.size(); ++i) {
    const double sum = sums[i];
    const double value = from[i];
    const double total = sum + value;
    // Both forms of the error are computed and one is chosen: a select, not a branch.
    const bool sum_is_larger = std::abs(sum) >= std::abs(value);
    const double larger = sum_is_larger ? sum : value;
    const double smaller = sum_is_larger ? value : sum;
    const double next = lost[i] + ((larger - total) + smaller);
    lost[i] = std::abs(total) > kMax ? 0.0 : next;
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
