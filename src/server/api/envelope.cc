#include "server/api/envelope.h"

#include "narthex/base/status.h"

namespace narthex::server {
namespace {

// Small answers go out whole, with their length; larger ones in pieces of this size.
constexpr size_t kFlushBytes = 256u << 10;
constexpr size_t kMaxAnnotations = 10;

net::HeaderList JsonHeaders() { return {{"Content-Type", "application/json"}}; }

void WriteAnnotations(JsonWriter* json, std::string_view key, std::string_view kind,
                      const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  json->Key(key).BeginArray();
  for (size_t i = 0; i < texts.size() && i < kMaxAnnotations; ++i) json->String(texts[i]);
  if (texts.size() > kMaxAnnotations) {
    json->String(
        base::StrCat(texts.size() - kMaxAnnotations, " more ", kind, " annotations omitted"));
  }
  json->EndArray();
}

}  // namespace

ApiError ErrorOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return {400, "bad_data"};
    case absl::StatusCode::kDeadlineExceeded:
      return {503, "timeout"};
    case absl::StatusCode::kCancelled:
      return {499, "canceled"};
    case absl::StatusCode::kNotFound:
      return {404, "not_found"};
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted:
      return {422, "execution"};
    default:
      return {500, "internal"};
  }
}

void SendError(const Writer& writer, const absl::Status& status) {
  SendError(writer, ErrorOf(status), base::Message(status));
}

void SendError(const Writer& writer, ApiError error, std::string_view text) {
  std::string body;
  JsonWriter(&body)
      .BeginObject()
      .Field("status", "error")
      .Field("errorType", error.type)
      .Field("error", text)
      .EndObject();
  writer->Send(error.http_status, JsonHeaders(), std::move(body));
}

DataResponse::DataResponse(Writer writer) : writer_(std::move(writer)), json_(&buffer_) {
  json_.BeginObject().Field("status", "success").Key("data");
}

bool DataResponse::FlushIfLarge() {
  if (buffer_.size() < kFlushBytes) return true;
  if (!streaming_) writer_->Start(200, JsonHeaders());
  streaming_ = true;
  const bool there = writer_->Write(buffer_);
  buffer_.clear();
  return there;
}

void DataResponse::Finish(const std::vector<std::string>& warnings,
                          const std::vector<std::string>& infos) {
  WriteAnnotations(&json_, "warnings", "warning", warnings);
  WriteAnnotations(&json_, "infos", "info", infos);
  json_.EndObject();
  if (!streaming_) {
    writer_->Send(200, JsonHeaders(), std::move(buffer_));
    return;
  }
  if (writer_->Write(buffer_)) writer_->Finish();
}

}  // namespace narthex::server
