// An example observation behind a sample, with labels of its own (a trace id, mostly).
#pragma once

#include <cstdint>

#include "narthex/model/labels.h"

namespace narthex::model {

struct Exemplar {
  Labels labels;
  double value = 0;
  bool has_time = false;
  int64_t time_ms = 0;
  bool operator==(const Exemplar&) const = default;
};

}  // namespace narthex::model
