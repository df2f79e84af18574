// From the labels a target exposes to the labels that are stored. Pure.
#pragma once

#include "absl/status/status.h"
#include "narthex/model/labels.h"
#include "scrape/pool_config.h"

namespace narthex::scrape {

// Adds the target's labels to a scraped series and applies the metric relabelling. Where both have
// a label, `honor_labels` decides: the scraped one wins, or it moves to `exported_<name>`.
// False: the series is to be dropped.
[[nodiscard]] bool FinishLabels(const PoolConfig& config, const model::Labels& target_labels,
                                model::LabelsBuilder* labels);

// kInvalidArgument: no metric name, bad names; kResourceExhausted: a label limit.
absl::Status CheckLabels(const PoolOptions& options, const model::Labels& labels);

}  // namespace narthex::scrape
