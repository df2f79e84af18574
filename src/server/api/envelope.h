// The answers of the API: {"status":"success","data":...} and {"status":"error",...}, and the one
// place where a Status becomes an HTTP status and an errorType.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "narthex/net/http_server.h"
#include "server/json_writer.h"

namespace narthex::server {

struct ApiError {
  int http_status = 500;
  std::string_view type;  // "bad_data", ...
};

// kInvalidArgument bad_data 400; kDeadlineExceeded timeout 503; kCancelled canceled 499; kNotFound
// not_found 404; kFailedPrecondition and kResourceExhausted execution 422; all else internal 500.
ApiError ErrorOf(const absl::Status& status);

using Writer = std::shared_ptr<net::ResponseWriter>;

void SendError(const Writer& writer, const absl::Status& status);
void SendError(const Writer& writer, ApiError error, std::string_view text);

// An answer under construction whose data is written by the caller: construct, write one JSON value
// with json(), Finish(). Large answers stream: call FlushIfLarge() between items.
// Thread-compatible.
class DataResponse {
 public:
  explicit DataResponse(Writer writer);
  JsonWriter& json() { return json_; }
  // Sends what has gathered once it is large. False if the client is gone.
  bool FlushIfLarge();
  // Ends the answer; warnings and infos are cut to ten each.
  void Finish(const std::vector<std::string>& warnings = {},
              const std::vector<std::string>& infos = {});

 private:
  Writer writer_;
  std::string buffer_;
  JsonWriter json_;
  bool streaming_ = false;
};

}  // namespace narthex::server
