#include "promql/functions/range_functions.h"

#include <algorithm>
#include <iterator>

#include "promql/functions/range_kernels.h"
#include "promql/functions/range_sliding.h"

namespace narthex::promql {
namespace {

// Sorted by name.
constexpr RangeFunction kFunctions[] = {
    {.name = "avg_over_time", .kernel = AvgOverTimeKernel},
    {.name = "changes",
     .kernel = ChangesKernel,
     .new_sliding = NewSlidingChanges,
     .accepts_anchored = true},
    {.name = "count_over_time", .kernel = CountOverTimeKernel},
    {.name = "delta", .kernel = DeltaKernel, .accepts_anchored = true, .accepts_smoothed = true},
    {.name = "deriv", .kernel = DerivKernel},
    {.name = "double_exponential_smoothing",
     .kernel = DoubleExponentialSmoothingKernel,
     .num_scalars = 2,
     .check = CheckSmoothingFactors},
    {.name = "first_over_time", .kernel = FirstOverTimeKernel, .keeps_name = true},
    {.name = "idelta", .kernel = InstantDeltaKernel},
    {.name = "increase",
     .kernel = IncreaseKernel,
     .new_sliding = NewSlidingIncrease,
     .is_counter_rate = true,
     .accepts_anchored = true,
     .accepts_smoothed = true},
    {.name = "irate", .kernel = InstantRateKernel},
    {.name = "last_over_time", .kernel = LastOverTimeKernel, .keeps_name = true},
    {.name = "mad_over_time", .kernel = MadOverTimeKernel},
    {.name = "max_over_time", .kernel = MaxOverTimeKernel, .new_sliding = NewSlidingMax},
    {.name = "min_over_time", .kernel = MinOverTimeKernel, .new_sliding = NewSlidingMin},
    {.name = "predict_linear", .kernel = PredictLinearKernel, .num_scalars = 1},
    {.name = "present_over_time", .kernel = PresentOverTimeKernel},
    {.name = "quantile_over_time", .kernel = QuantileOverTimeKernel, .num_scalars = 1},
    {.name = "rate",
     .kernel = RateKernel,
     .new_sliding = NewSlidingRate,
     .is_counter_rate = true,
     .accepts_anchored = true,
     .accepts_smoothed = true},
    {.name = "resets",
     .kernel = ResetsKernel,
     .new_sliding = NewSlidingResets,
     .accepts_anchored = true},
    {.name = "stddev_over_time", .kernel = StddevOverTimeKernel},
    {.name = "stdvar_over_time", .kernel = StdvarOverTimeKernel},
    {.name = "sum_over_time", .kernel = SumOverTimeKernel},
    {.name = "ts_of_first_over_time", .kernel = TimeOfFirstKernel},
    {.name = "ts_of_last_over_time", .kernel = TimeOfLastKernel},
    {.name = "ts_of_max_over_time", .kernel = TimeOfMaxKernel},
    {.name = "ts_of_min_over_time", .kernel = TimeOfMinKernel},
};

}  // namespace

std::span<const RangeFunction> AllRangeFunctions() { return kFunctions; }

const RangeFunction* FindRangeFunction(std::string_view name) {
  const RangeFunction* const found =
      std::lower_bound(std::begin(kFunctions), std::end(kFunctions), name,
                       [](const RangeFunction& function, std::string_view wanted) {
                         return function.name < wanted;
                       });
  return found != std::end(kFunctions) && found->name == name ? found : nullptr;
}

bool LooksLikeNoCounter(std::string_view metric_name) {
  for (const std::string_view suffix : {"_total", "_sum", "_count", "_bucket"}) {
    if (metric_name.ends_with(suffix)) return false;
  }
  return true;
}

}  // namespace narthex::promql
