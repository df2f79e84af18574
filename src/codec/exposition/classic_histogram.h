// Collects the series of one classic histogram and turns them into a native one with custom
// buckets. Thread-compatible; reused from histogram to histogram.
#pragma once

#include <cstdint>
#include <vector>

#include "narthex/model/histogram.h"

namespace narthex::codec {

class ClassicHistogram {
 public:
  void Reset();

  // The cumulative count up to `upper_bound`. Bounds come in any order; of equal ones the first
  // counts. REQUIRES: the bound is not NaN.
  void SetBucket(double upper_bound, double cumulative_count);
  void SetCount(double count);
  void SetSum(double sum) { sum_ = sum; }

  enum class Result : uint8_t { kInvalid, kInteger, kFloat };
  // Sets `*integer` if all counts are whole numbers, else `*floating`. Without a count that of the
  // highest bucket is used; without a bucket +Inf the count. kInvalid: counts are negative or not
  // cumulative, or the bucket +Inf is not the count.
  Result Convert(model::CounterResetHint hint, model::Histogram* integer,
                 model::FloatHistogram* floating);

 private:
  struct Bucket {
    double upper_bound;
    double cumulative_count;
  };

  bool AllWhole() const;

  std::vector<Bucket> buckets_;  // Bounds ascending.
  bool has_count_ = false;
  double count_ = 0;
  double sum_ = 0;
  bool is_valid_ = true;
};

}  // namespace narthex::codec
