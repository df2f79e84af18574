#include "server/router.h"

#include <algorithm>

#include "narthex/base/strings.h"

namespace narthex::server {
namespace {

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    parts.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    path.remove_prefix(slash + 1);
    if (path.empty()) parts.emplace_back();
  }
  return parts;
}

bool MatchParts(const std::vector<std::string>& pattern, const std::vector<std::string>& path,
                PathValues* values) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (i >= path.size()) return false;
    if (pattern[i].substr(0, 1) == "*") {
      std::string rest;
      for (size_t j = i; j < path.size(); ++j) base::StrAppend(&rest, j == i ? "" : "/", path[j]);
      (*values)[pattern[i].substr(1)] = rest;
      return true;
    }
    if (pattern[i].substr(0, 1) == ":") {
      if (path[i].empty()) return false;
      (*values)[pattern[i].substr(1)] = path[i];
    } else if (pattern[i] != path[i]) {
      return false;
    }
  }
  return pattern.size() == path.size();
}

// Passes everything on, adds headers, and reports the answer when the last holder lets go.
class MeasuredWriter final : public net::ResponseWriter {
 public:
  using Report = std::function<void(int status, uint64_t num_bytes)>;
  MeasuredWriter(Writer inner, net::HeaderList headers, Report report)
      : inner_(std::move(inner)), headers_(std::move(headers)), report_(std::move(report)) {}
  ~MeasuredWriter() override { report_(inner_->status(), inner_->num_body_bytes()); }

  void Send(int status, net::HeaderList headers, std::string body) override {
    inner_->Send(status, WithOwn(std::move(headers)), std::move(body));
  }
  void Start(int status, net::HeaderList headers) override {
    inner_->Start(status, WithOwn(std::move(headers)));
  }
  bool Write(std::string_view piece) override { return inner_->Write(piece); }
  void Finish() override { inner_->Finish(); }
  bool client_gone() const override { return inner_->client_gone(); }
  void OnClientGone(std::function<void()> on_gone) override {
    inner_->OnClientGone(std::move(on_gone));
  }
  void set_allow_compression(bool allow) override { inner_->set_allow_compression(allow); }
  int status() const override { return inner_->status(); }
  uint64_t num_body_bytes() const override { return inner_->num_body_bytes(); }

 private:
  net::HeaderList WithOwn(net::HeaderList headers) const {
    headers.insert(headers.end(), headers_.begin(), headers_.end());
    return headers;
  }

  const Writer inner_;
  const net::HeaderList headers_;
  const Report report_;
};

void SendText(const Writer& writer, int status, std::string text) {
  writer->Send(status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(text));
}

}  // namespace

Router::Router(const base::Clock* clock, base::Registry* registry, std::function<bool()> is_ready,
               std::function<bool()> is_stopping, HeadersOf api_headers)
    : clock_(clock),
      is_ready_(std::move(is_ready)),
      is_stopping_(std::move(is_stopping)),
      api_headers_(std::move(api_headers)) {
  requests_ = registry->AddCounterFamily("prometheus_http_requests_total",
                                         "Counter of HTTP requests.", {"handler", "code"});
  durations_ = registry->AddHistogramFamily(
      "prometheus_http_request_duration_seconds", "Histogram of latencies for HTTP requests.",
      {"handler"}, {.bounds = {.1, .2, .4, 1, 3, 8, 20, 60, 120}, .native = true});
  sizes_ = registry->AddHistogramFamily(
      "prometheus_http_response_size_bytes", "Histogram of response size for HTTP requests.",
      {"handler"}, {.bounds = {100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}});
}

void Router::Add(std::vector<std::string> methods, std::string pattern, Gate gate,
                 RouteHandler handler) {
  requests_->With({pattern, "200"});
  std::vector<std::string> parts = SplitPath(pattern);
  routes_.push_back(
      {std::move(methods), std::move(pattern), std::move(parts), gate, std::move(handler)});
}

const Router::Route* Router::Find(const net::HttpRequest& request, PathValues* values,
                                  bool* path_known) const {
  const std::vector<std::string> path = SplitPath(request.path);
  for (const Route& route : routes_) {
    PathValues found;
    if (!MatchParts(route.parts, path, &found)) continue;
    *path_known = true;
    if (std::find(route.methods.begin(), route.methods.end(), request.method) ==
        route.methods.end()) {
      continue;
    }
    *values = std::move(found);
    return &route;
  }
  return nullptr;
}

Writer Router::Measured(const std::string& pattern, net::HeaderList headers, Writer writer) const {
  const int64_t start_ns = clock_->MonotonicNs();
  return std::make_shared<MeasuredWriter>(
      std::move(writer), std::move(headers),
      [this, pattern, start_ns](int status, uint64_t num_bytes) {
        requests_->With({pattern, base::StrCat(status)})->Add();
        durations_->With({pattern})->Observe(static_cast<double>(clock_->MonotonicNs() - start_ns) *
                                             1e-9);
        sizes_->With({pattern})->Observe(static_cast<double>(num_bytes));
      });
}

void Router::Serve(const net::HttpRequest& request, Writer writer) const {
  PathValues values;
  bool path_known = false;
  const Route* route = Find(request, &values, &path_known);
  const bool is_api = std::string_view(request.path).substr(0, 5) == "/api/";
  net::HeaderList headers = is_api ? api_headers_(request) : net::HeaderList();
  if (route == nullptr) {
    if (request.method == "OPTIONS") return writer->Send(204, std::move(headers), "");
    return path_known ? SendText(writer, 405, "Method Not Allowed\n")
                      : SendText(writer, 404, "404 page not found\n");
  }
  Writer measured = Measured(route->pattern, std::move(headers), std::move(writer));
  if (route->gate == Gate::kNeedsReady && !is_ready_()) {
    return measured->Send(503,
                          {{"Content-Type", "text/plain; charset=utf-8"},
                           {"X-Prometheus-Stopping", is_stopping_() ? "true" : "false"}},
                          "Service Unavailable");
  }
  route->handler(request, values, std::move(measured));
}

}  // namespace narthex::server
