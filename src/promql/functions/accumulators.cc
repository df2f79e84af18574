#include "promql/functions/accumulators.h"

#include "narthex/model/stale.h"

namespace narthex::promql {

void FloatMean::Add(double value) {
  count_ += 1;
  if (count_ == 1) {
    sum_.sum = value;
    return;
  }
  if (!incremental_) {
    model::KahanSum next = sum_;
    next.Add(value);
    if (!std::isinf(next.sum)) {
      sum_ = next;
      return;
    }
    incremental_ = true;
    sum_.sum /= count_ - 1;
    sum_.compensation /= count_ - 1;
  }
  const double weight = (count_ - 1) / count_;
  sum_.sum *= weight;
  sum_.compensation *= weight;
  sum_.Add(value / count_);
}

double FloatMean::value() const {
  if (count_ == 0) return model::NormalNan();
  return incremental_ ? sum_.value() : sum_.sum / count_ + sum_.compensation / count_;
}

void FloatVariance::Add(double value) {
  count_ += 1;
  if (count_ == 1) {
    mean_ = value;
    squares_ = std::isfinite(value) ? 0 : model::NormalNan();
    return;
  }
  const double delta = value - mean_;
  mean_ += delta / count_;
  squares_ += delta * (value - mean_);
}

double CompensatedVariance(std::span<const double> values) {
  double count = 0;
  model::KahanSum mean;
  model::KahanSum squares;
  for (const double value : values) {
    count += 1;
    const double delta = value - mean.value();
    mean.Add(delta / count);
    squares.Add(delta * (value - mean.value()));
  }
  return squares.value() / count;
}

double CompensatedSum(std::span<const double> values) {
  model::KahanSum sum;
  for (const double value : values) sum.Add(value);
  return std::isinf(sum.sum) ? sum.sum : sum.value();
}

double CompensatedMean(std::span<const double> values) {
  // Fast path: a sum that is finite in the end was so all the time.
  model::KahanSum sum{values[0], 0};
  for (const double value : values.subspan(1)) sum.Add(value);
  const double count = static_cast<double>(values.size());
  if (std::isfinite(sum.sum)) return sum.sum / count + sum.compensation / count;
  FloatMean mean;
  for (const double value : values) mean.Add(value);
  return mean.value();
}

}  // namespace narthex::promql
