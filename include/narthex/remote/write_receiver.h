// Receives remote write requests and stores what they hold: the handler behind POST /api/v1/write,
// without HTTP around it. A request is stored as a whole or, after its first error, not at all;
// only series with invalid labels are left out. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "narthex/base/clock.h"
#include "narthex/base/log.h"
#include "narthex/base/metrics.h"
#include "narthex/model/appendable.h"

namespace narthex::remote {

struct WriteReceiverOptions {
  // Of a body as sent, and decoded.
  size_t max_body_bytes = 32 << 20;
  // Full names of the messages taken, in the order errors name them. Version 1 alone is known.
  std::vector<std::string> accepted_messages = {"prometheus.WriteRequest"};
  // Samples further ahead of the clock are refused.
  int64_t max_ahead_ms = 600'000;
  // So many series are remembered by a hash of their encoded labels (24 bytes each), so that the
  // labels of series that come again are not decoded. The seed should be random.
  size_t max_cached_series = 1 << 20;
  uint64_t hash_seed = 0;
};

struct WriteRequest {
  std::string_view method = "POST";
  std::string_view content_type;      // "" counts as "application/x-protobuf".
  std::string_view content_encoding;  // "" counts as "snappy".
  std::string_view body;
};

struct WriteReply {
  int status = 204;  // HTTP status.
  std::string text;  // Of an error; without the newline that ends plain text answers.
};

class SeriesRefCache;

class WriteReceiver {
 public:
  // Everything must outlive the receiver. Registers its metrics at `registry`.
  WriteReceiver(WriteReceiverOptions options, model::Appendable* storage, const base::Clock* clock,
                const base::Logger* logger, base::Registry* registry);
  ~WriteReceiver();

  WriteReply Handle(const WriteRequest& request);

 private:
  WriteReply Store(std::string_view message);

  const WriteReceiverOptions options_;
  model::Appendable* const storage_;
  const base::Clock* const clock_;
  const base::Logger* const logger_;
  base::Counter* const invalid_labels_;
  base::Counter* const without_metadata_;
  const std::unique_ptr<SeriesRefCache> cache_;
};

}  // namespace narthex::remote
