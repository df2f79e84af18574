// Compensated (Kahan-Neumaier) summation, step by step as Prometheus does it, so that sums agree to
// the last bit. Free functions; thread-safe.
#pragma once

#include <cmath>
#include <limits>

namespace narthex::model {

// A running sum and what rounding took from it so far; the value is sum + compensation.
struct KahanSum {
  double sum = 0;
  double compensation = 0;

  void Add(double value) {
    const double total = sum + value;
    // An infinite sum has no meaningful compensation. NaN is not infinite: the compensation becomes
    // NaN then, as does the value.
    if (std::abs(total) > std::numeric_limits<double>::max()) {
      compensation = 0;
    } else if (std::abs(sum) >= std::abs(value)) {
      compensation += (sum - total) + value;
    } else {
      compensation += (value - total) + sum;
    }
    sum = total;
  }
  double value() const { return sum + compensation; }
};

}  // namespace narthex::model
