// Makers of the kernels with memory, for the table of range_functions.h.
#pragma once

#include <memory>

#include "promql/functions/range_functions.h"

namespace narthex::promql {

std::unique_ptr<SlidingKernel> NewSlidingRate();
std::unique_ptr<SlidingKernel> NewSlidingIncrease();
std::unique_ptr<SlidingKernel> NewSlidingResets();
std::unique_ptr<SlidingKernel> NewSlidingChanges();
std::unique_ptr<SlidingKernel> NewSlidingMax();
std::unique_ptr<SlidingKernel> NewSlidingMin();

}  // namespace narthex::promql
