// The kernels behind the table of range_functions.h, and what they share. All have the signature
// and the contract of RangeKernel.
#pragma once

#include "promql/functions/range_functions.h"

namespace narthex::promql {

#define NX_RANGE_KERNEL(name) \
  Outcome name(const Window&, const RangeArguments&, NoteSet*, RangeResult*)

NX_RANGE_KERNEL(RateKernel);
NX_RANGE_KERNEL(IncreaseKernel);
NX_RANGE_KERNEL(DeltaKernel);
NX_RANGE_KERNEL(InstantRateKernel);
NX_RANGE_KERNEL(InstantDeltaKernel);

NX_RANGE_KERNEL(AvgOverTimeKernel);
NX_RANGE_KERNEL(SumOverTimeKernel);
NX_RANGE_KERNEL(CountOverTimeKernel);
NX_RANGE_KERNEL(MinOverTimeKernel);
NX_RANGE_KERNEL(MaxOverTimeKernel);
NX_RANGE_KERNEL(FirstOverTimeKernel);
NX_RANGE_KERNEL(LastOverTimeKernel);
NX_RANGE_KERNEL(PresentOverTimeKernel);
NX_RANGE_KERNEL(StddevOverTimeKernel);
NX_RANGE_KERNEL(StdvarOverTimeKernel);
NX_RANGE_KERNEL(QuantileOverTimeKernel);
NX_RANGE_KERNEL(MadOverTimeKernel);
NX_RANGE_KERNEL(TimeOfFirstKernel);
NX_RANGE_KERNEL(TimeOfLastKernel);
NX_RANGE_KERNEL(TimeOfMaxKernel);
NX_RANGE_KERNEL(TimeOfMinKernel);

NX_RANGE_KERNEL(ChangesKernel);
NX_RANGE_KERNEL(ResetsKernel);
NX_RANGE_KERNEL(DerivKernel);
NX_RANGE_KERNEL(PredictLinearKernel);
NX_RANGE_KERNEL(DoubleExponentialSmoothingKernel);

#undef NX_RANGE_KERNEL

absl::Status CheckSmoothingFactors(const RangeArguments& arguments);

inline Outcome FloatResult(double value, RangeResult* result) {
  result->value = value;
  return Outcome::kFloat;
}

// For functions of floats only: whether there are any; histograms beside them are told of.
inline bool HasFloats(const Window& window, NoteSet* notes) {
  if (window.values.empty()) return false;
  if (!window.histograms.empty()) notes->Add(Note::kHistogramsIgnored);
  return true;
}

// How far delta, increase and rate differ.
struct RateKind {
  bool is_counter;  // Resets count as such.
  bool is_per_second;
};

// The rate family on floats alone, once the increase between the first and the last is known.
// REQUIRES: at least two floats.
Outcome ExtrapolatedFloatRate(const Window& window, double increase, RateKind kind,
                              RangeResult* result);

// The rate family on histograms alone; at least two of them. Not extrapolated. True with the result
// in `*out`.
bool HistogramIncrease(const Window& window, bool is_counter, NoteSet* notes,
                       model::FloatHistogram* out);

// The rate family over anchored and smoothed ranges of one kind of samples.
Outcome ExtendedFloatRate(const Window& window, RateKind kind, RangeResult* result);
Outcome ExtendedHistogramRate(const Window& window, RateKind kind, NoteSet* notes,
                              RangeResult* result);

// The first samples that count at an edge: of `times`, the newest one at or before `start_ms`, else
// the first. REQUIRES: not empty.
size_t FirstOfExtended(std::span<const int64_t> times, int64_t start_ms);

}  // namespace narthex::promql
