#include "narthex/model/appendable.h"

namespace narthex::model {

std::string_view OutcomeText(AppendOutcome outcome) {
  switch (outcome) {
    case AppendOutcome::kAccepted:
    case AppendOutcome::kDuplicateSame:
      return "";
    case AppendOutcome::kDuplicate:
      return "duplicate sample for timestamp";
    case AppendOutcome::kOutOfOrder:
      return "out of order sample";
    case AppendOutcome::kOutOfBounds:
      return "out of bounds";
    case AppendOutcome::kTooOld:
      return "too old sample";
    case AppendOutcome::kUnknownSeries:
      return "unknown series";
    case AppendOutcome::kInvalidHistogram:
      return "invalid histogram";
  }
  return "";
}

}  // namespace narthex::model
