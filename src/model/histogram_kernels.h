// Loops over runs of bucket counts. Pure kernels: no allocation, no branches per bucket, so that
// they vectorise. All spans of one call have one size and do not overlap.
#pragma once

#include <span>

namespace narthex::model {

void AddRun(std::span<double> target, std::span<const double> values);
void SubtractRun(std::span<double> target, std::span<const double> values);
// As KahanSum::Add() for each bucket.
void AddRunCompensated(std::span<double> target, std::span<double> compensation,
                       std::span<const double> values);
void MultiplyRun(std::span<double> values, double factor);
void DivideRun(std::span<double> values, double divisor);
// Whether any of `current` is less than its counterpart.
bool AnyLess(std::span<const double> current, std::span<const double> previous);
bool AnyZero(std::span<const double> values);
// The largest magnitude; NaNs are passed over, 0 if nothing else is there.
double LargestMagnitude(std::span<const double> values);

}  // namespace narthex::model
