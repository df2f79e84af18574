// An HTTP client without a network: a handler answers each fetch, at once or when the test says so.
// Thread-compatible.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "narthex/net/http_client.h"

namespace narthex::support {

class FakeHttpClient final : public net::HttpClient {
 public:
  using Handler = std::function<absl::StatusOr<net::FetchResponse>(const net::FetchRequest&)>;

  void SetHandler(Handler handler) { handler_ = std::move(handler); }
  // While held, fetches wait for Release().
  void Hold() { held_ = true; }
  // Answers what waits, and later fetches at once again.
  void Release() {
    held_ = false;
    for (auto& [request, done] : std::exchange(waiting_, {})) done(handler_(request));
  }

  void Fetch(net::FetchRequest request, std::shared_ptr<const net::HttpClientOptions> /*options*/,
             net::FetchCallback done) override {
    requests.push_back(request);
    if (stopped_) {
      done(absl::CancelledError("stopped"));
    } else if (held_) {
      waiting_.emplace_back(std::move(request), std::move(done));
    } else {
      done(handler_(request));
    }
  }
  absl::StatusOr<net::FetchResponse> FetchNow(
      net::FetchRequest request,
      std::shared_ptr<const net::HttpClientOptions> /*options*/) override {
    requests.push_back(request);
    return handler_(request);
  }
  void Stop() override {
    stopped_ = true;
    for (auto& [request, done] : std::exchange(waiting_, {})) done(absl::CancelledError("stopped"));
  }

  std::vector<net::FetchRequest> requests;  // All there were.

 private:
  Handler handler_ = [](const net::FetchRequest&) -> absl::StatusOr<net::FetchResponse> {
    return absl::UnavailableError("Get \"http://h:1/metrics\": connection refused");
  };
  bool held_ = false;
  bool stopped_ = false;
  std::vector<std::pair<net::FetchRequest, net::FetchCallback>> waiting_;
};

}  // namespace narthex::support
