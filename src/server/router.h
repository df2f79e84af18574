// Finds the handler of a request by method and path pattern, and measures every answer under the
// pattern's name. Thread-compatible while routes are added, then thread-safe.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "narthex/base/clock.h"
#include "narthex/base/metrics.h"
#include "narthex/net/http_server.h"
#include "server/api/envelope.h"

namespace narthex::server {

// Values of the ":name" parts of a pattern.
using PathValues = std::map<std::string, std::string, std::less<>>;
using RouteHandler = std::function<void(const net::HttpRequest&, const PathValues&, Writer)>;

enum class Gate : uint8_t { kOpen, kNeedsReady };

class Router {
 public:
  // `is_ready` says whether kNeedsReady routes may be served, `is_stopping` why not.
  // `api_headers` gives headers that every answer under /api/ has besides its own (CORS).
  using HeadersOf = std::function<net::HeaderList(const net::HttpRequest&)>;
  Router(const base::Clock* clock, base::Registry* registry, std::function<bool()> is_ready,
         std::function<bool()> is_stopping, HeadersOf api_headers);

  // `pattern` is a path whose parts may be ":name" (one part) and whose last may be "*name" (the
  // rest). `methods` are served; others get 405, or 204 for OPTIONS.
  void Add(std::vector<std::string> methods, std::string pattern, Gate gate, RouteHandler handler);

  void Serve(const net::HttpRequest& request, Writer writer) const;

 private:
  struct Route {
    std::vector<std::string> methods;
    std::string pattern;
    std::vector<std::string> parts;
    Gate gate;
    RouteHandler handler;
  };
  const Route* Find(const net::HttpRequest& request, PathValues* values, bool* path_known) const;
  Writer Measured(const std::string& pattern, net::HeaderList headers, Writer writer) const;

  const base::Clock* const clock_;
  const std::function<bool()> is_ready_;
  const std::function<bool()> is_stopping_;
  const HeadersOf api_headers_;
  std::vector<Route> routes_;
  base::Family<base::Counter>* requests_;
  base::Family<base::Histogram>* durations_;
  base::Family<base::Histogram>* sizes_;
};

}  // namespace narthex::server
