// Where committed records go before they are applied: the write-ahead log, or nothing.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "head/head_metrics.h"
#include "narthex/disk/wal.h"
#include "narthex/head/head.h"

namespace narthex::head {

// One caller at a time.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // All records or an error, after which none counts. kResourceExhausted: the disk is full.
  virtual absl::Status Log(std::span<const std::string_view> records) = 0;
  virtual absl::Status Close() = 0;
};

// The write-ahead log of `options.wal_directory`. After an error it tries to go on in a fresh
// segment with the next Log(), so that writing resumes by itself once there is room.
absl::StatusOr<std::unique_ptr<RecordSink>> OpenWalSink(const HeadOptions& options,
                                                        const HeadContext& context,
                                                        HeadMetrics* metrics);

}  // namespace narthex::head
