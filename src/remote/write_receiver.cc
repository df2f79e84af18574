#include "narthex/remote/write_receiver.h"

#include <algorithm>
#include <utility>

#include "narthex/base/status.h"
#include "narthex/codec/remote/write_v1.h"
#include "remote/series_ref_cache.h"
#include "remote/write_batch.h"

namespace narthex::remote {
namespace {

constexpr std::string_view kMediaType = "application/x-protobuf";
constexpr std::string_view kMessageV1 = "prometheus.WriteRequest";
constexpr std::string_view kMessageV2 = "io.prometheus.write.v2.Request";

constexpr int kBadRequest = 400;
constexpr int kMethodNotAllowed = 405;
constexpr int kTooLarge = 413;
constexpr int kUnsupportedMediaType = 415;
constexpr int kServerError = 500;

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

// Takes the part up to the next ';'.
std::string_view TakePart(std::string_view* text) {
  const size_t size = std::min(text->find(';'), text->size());
  const std::string_view part = text->substr(0, size);
  text->remove_prefix(std::min(size + 1, text->size()));
  return part;
}

// The message that a Content-Type names. Blanks around ';' and '=' are not taken, as in
// Prometheus.
absl::StatusOr<std::string> MessageOfContentType(std::string_view content_type) {
  content_type = Trim(content_type);
  std::string_view left = content_type;
  if (TakePart(&left) != kMediaType) {
    return base::InvalidArgument("expected ", kMediaType, " as the first (media) part, got ",
                                 content_type, " content-type");
  }
  const bool ends_open = content_type.ends_with(';');
  while (!left.empty() || ends_open) {
    const std::string_view parameter = TakePart(&left);
    const size_t equals = parameter.find('=');
    if (equals == std::string_view::npos ||
        parameter.find('=', equals + 1) != std::string_view::npos) {
      return base::InvalidArgument(
          "as per https://www.rfc-editor.org/rfc/rfc9110#parameter expected parameters to be "
          "key-values, got ",
          parameter, " in ", content_type, " content-type");
    }
    if (parameter.substr(0, equals) != "proto") continue;
    const std::string_view message = parameter.substr(equals + 1);
    if (message == kMessageV1 || message == kMessageV2) return std::string(message);
    return base::InvalidArgument("got ", content_type,
                                 " content type; unknown type for remote write protobuf message ",
                                 message, ", supported: ", kMessageV1, ", ", kMessageV2);
  }
  return std::string(kMessageV1);
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) {
    if (!joined.empty()) joined += ", ";
    joined += text;
  }
  return joined;
}

WriteReply Refuse(int status, const absl::Status& error) {
  return {status, std::string(base::Message(error))};
}

}  // namespace

WriteReceiver::WriteReceiver(WriteReceiverOptions options, model::Appendable* storage,
                             const base::Clock* clock, const base::Logger* logger,
                             base::Registry* registry)
    : options_(std::move(options)),
      storage_(storage),
      clock_(clock),
      logger_(logger),
      invalid_labels_(registry->AddCounter(
          "prometheus_api_remote_write_invalid_labels_samples_total",
          "The total number of received remote write samples and histogram samples which were "
          "rejected due to invalid labels.")),
      without_metadata_(registry->AddCounter(
          "prometheus_api_remote_write_without_metadata_appended_samples_total",
          "The total number of received remote write samples (and histogram samples) which were "
          "ingested without corresponding metadata.")),
      cache_(std::make_unique<SeriesRefCache>(options_.max_cached_series)) {}

WriteReceiver::~WriteReceiver() = default;

WriteReply WriteReceiver::Handle(const WriteRequest& request) {
  if (!request.content_encoding.empty() && request.content_encoding != "snappy") {
    return {kUnsupportedMediaType,
            base::StrCat(request.content_encoding,
                         " encoding (compression) is not accepted by this server; only snappy is "
                         "acceptable")};
  }
  if (request.body.size() > options_.max_body_bytes) {
    return {kTooLarge,
            base::StrCat("request body exceeds the ", options_.max_body_bytes, " bytes limit")};
  }
  const auto message = codec::UncompressSnappyBlock(request.body, options_.max_body_bytes);
  if (!message.ok()) return Refuse(kBadRequest, message.status());
  if (request.method != "POST") return {kMethodNotAllowed, "Method not allowed"};
  const auto type =
      MessageOfContentType(request.content_type.empty() ? kMediaType : request.content_type);
  if (!type.ok()) return Refuse(kUnsupportedMediaType, type.status());
  const auto& accepted = options_.accepted_messages;
  const bool is_accepted = std::find(accepted.begin(), accepted.end(), *type) != accepted.end();
  if (!is_accepted || *type != kMessageV1) {
    return {kUnsupportedMediaType,
            base::StrCat(*type, " protobuf message is not accepted by this server; only accepts ",
                         Joined(accepted))};
  }
  return Store(*message);
}

WriteReply WriteReceiver::Store(std::string_view message) {
  WriteBatch batch({clock_->NowMs() + options_.max_ahead_ms, options_.hash_seed}, storage_,
                   cache_.get());
  codec::WriteRequestReader reader(message);
  codec::WriteSeries series;
  absl::Status status;
  while (status.ok() && reader.NextSeries(&series)) status = batch.AddSeries(&series);
  if (status.ok()) status = reader.status();
  if (status.ok()) status = batch.Flush();
  // The sender hears of its own mistakes; everything else it may try again.
  if (absl::IsInvalidArgument(status)) return Refuse(kBadRequest, status);
  if (status.ok()) status = batch.Commit();
  if (!status.ok()) {
    logger_->Error("Error while storing the remote write request",
                   {{"err", base::Message(status)}});
    return Refuse(kServerError, status);
  }
  without_metadata_->Add(static_cast<double>(batch.num_samples()));
  if (batch.num_invalid_labels() > 0) {
    invalid_labels_->Add(static_cast<double>(batch.num_invalid_labels()));
    logger_->Warn("Invalid metric names or labels",
                  {{"num_dropped_series", batch.num_invalid_labels()}});
  }
  return {};
}

}  // namespace narthex::remote
