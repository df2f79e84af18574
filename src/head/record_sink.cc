#include "head/record_sink.h"

#include <utility>

#include "narthex/base/status.h"

namespace narthex::head {
namespace {

class WalSink final : public RecordSink {
 public:
  WalSink(std::unique_ptr<disk::WalWriter> writer, const base::Logger* logger)
      : writer_(std::move(writer)), logger_(logger) {}

  absl::Status Log(std::span<const std::string_view> records) override {
    if (closed_) return base::FailedPrecondition("head: the write-ahead log is closed");
    absl::Status status = writer_->poisoned() ? writer_->Recover() : absl::OkStatus();
    if (status.ok()) status = writer_->Log(records);
    if (status.ok()) {
      if (num_errors_ != 0) {
        logger_->Info("write-ahead log takes records again",
                      {{"segment", writer_->position().segment}, {"errors", num_errors_}});
        num_errors_ = 0;
      }
      return status;
    }
    status = base::WithContext(status, "head: write-ahead log");
    if (num_errors_++ == 0) {
      logger_->Error("write-ahead log failed; appends are refused until it works again",
                     {{"err", base::Message(status)}});
    }
    return status;
  }

  absl::Status Close() override {
    if (std::exchange(closed_, true)) return absl::OkStatus();
    return writer_->Close();
  }

 private:
  const std::unique_ptr<disk::WalWriter> writer_;
  const base::Logger* const logger_;
  uint64_t num_errors_ = 0;  // Since it last worked.
  bool closed_ = false;
};

std::string_view CompressionName(disk::WalCompression compression) {
  switch (compression) {
    case disk::WalCompression::kNone:
      return "none";
    case disk::WalCompression::kSnappy:
      return "snappy";
    case disk::WalCompression::kZstd:
      return "zstd";
  }
  return "none";
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordSink>> OpenWalSink(const HeadOptions& options,
                                                        const HeadContext& context,
                                                        HeadMetrics* metrics) {
  disk::WalWriterOptions writer_options;
  writer_options.directory = options.wal_directory;
  writer_options.segment_bytes = options.wal_segment_bytes;
  writer_options.compression = options.wal_compression;
  writer_options.metrics = {.page_flushes = metrics->wal_page_flushes,
                            .completed_pages = metrics->wal_completed_pages,
                            .writes_failed = metrics->wal_writes_failed,
                            .record_parts = metrics->wal_record_parts,
                            .record_parts_bytes = metrics->wal_record_parts_bytes,
                            .record_bytes_saved = metrics->wal_bytes_saved->With(
                                {std::string(CompressionName(options.wal_compression))}),
                            .current_segment = metrics->wal_segment};
  NX_ASSIGN_OR_RETURN(std::unique_ptr<disk::WalWriter> writer,
                      disk::WalWriter::Open(std::move(writer_options), context.fs));
  return std::unique_ptr<RecordSink>(std::make_unique<WalSink>(std::move(writer), context.logger));
}

}  // namespace narthex::head
