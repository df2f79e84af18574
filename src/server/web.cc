#include "server/web.h"

#include "narthex/base/status.h"
#include "narthex/codec/exposition/writer.h"
#include "server/api/series_api.h"
#include "server/api/status_api.h"
#include "server/api/targets_api.h"

namespace narthex::server {
namespace {

const std::vector<std::string> kGet = {"GET", "HEAD"};
const std::vector<std::string> kGetOrPost = {"GET", "HEAD", "POST"};
const std::vector<std::string> kPostOrPut = {"POST", "PUT"};

void SendText(const Writer& writer, int status, std::string text) {
  writer->Send(status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(text));
}

constexpr std::string_view kFrontPage =
    "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Narthex</title></head>"
    "<body><h1>Narthex</h1><ul>"
    "<li><a href=\"/api/v1/query?query=up\">up</a></li>"
    "<li><a href=\"/api/v1/targets\">targets</a></li>"
    "<li><a href=\"/api/v1/status/tsdb\">storage</a></li>"
    "<li><a href=\"/api/v1/status/config\">configuration</a></li>"
    "<li><a href=\"/api/v1/status/flags\">flags</a></li>"
    "<li><a href=\"/metrics\">own metrics</a></li></ul></body></html>\n";

}  // namespace

Web::Web(WebContext context)
    : context_(std::move(context)),
      // The flag was checked when it was parsed.
      cors_origin_(base::Regex::CompileAnchored(context_.flags->Text("web.cors.origin")).value()),
      router_(
          context_.clock, context_.registry, [this] { return is_ready(); },
          [this] { return state_.load(std::memory_order_acquire) == State::kStopping; },
          [this](const net::HttpRequest& request) { return CorsHeaders(request); }) {
  context_.registry->AddGaugeFunction("prometheus_ready",
                                      "Whether the server is ready to serve requests.",
                                      [this] { return is_ready() ? 1.0 : 0.0; });
  AddHealthRoutes();
  AddLifecycleRoutes();
  AddQueryRoutes();
  AddTargetRoutes();
  AddStatusRoutes();
  AddMetricsRoute();
  AddReceiverRoute();
}

net::HeaderList Web::CorsHeaders(const net::HttpRequest& request) const {
  net::HeaderList headers = {{"Vary", "Origin"}};
  const std::string_view origin = net::FindHeader(request.headers, "Origin");
  if (origin.empty()) return headers;
  headers.emplace_back("Access-Control-Allow-Headers",
                       "Accept, Authorization, Content-Type, Origin");
  headers.emplace_back("Access-Control-Allow-Methods", "GET, POST, OPTIONS");
  headers.emplace_back("Access-Control-Expose-Headers", "Date");
  if (context_.flags->Text("web.cors.origin") == ".*") {
    headers.emplace_back("Access-Control-Allow-Origin", "*");
  } else if (cors_origin_.Matches(origin)) {
    headers.emplace_back("Access-Control-Allow-Origin", std::string(origin));
  }
  return headers;
}

RouteHandler Web::WithParams(std::function<void(const Params&, const PathValues&, Writer)> handle) {
  return [handle = std::move(handle)](const net::HttpRequest& request, const PathValues& values,
                                      Writer writer) {
    const auto params = Params::Of(request);
    if (!params.ok()) {
      return SendError(writer, base::WithContext(params.status(), "error parsing form values"));
    }
    handle(*params, values, std::move(writer));
  };
}

void Web::SetReplayProgress(const db::ReplayProgress& progress) {
  base::MutexLock lock(&progress_mutex_);
  progress_ = progress;
}

void Web::SetReady(const ReadyServices& services) {
  services_ = services;
  state_.store(State::kReady, std::memory_order_release);
}

void Web::AddHealthRoutes() {
  router_.Add(kGet, "/-/healthy", Gate::kOpen, [](const auto&, const auto&, Writer writer) {
    SendText(writer, 200, "Prometheus Server is Healthy.\n");
  });
  router_.Add(kGet, "/-/ready", Gate::kNeedsReady, [](const auto&, const auto&, Writer writer) {
    SendText(writer, 200, "Prometheus Server is Ready.\n");
  });
  router_.Add(kGet, "/", Gate::kOpen, [](const auto&, const auto&, Writer writer) {
    writer->Send(200, {{"Content-Type", "text/html; charset=utf-8"}}, std::string(kFrontPage));
  });
}

void Web::AddLifecycleRoutes() {
  const bool enabled = context_.flags->Bool("web.enable-lifecycle");
  const auto refuse = [](const auto&, const auto&, Writer writer) {
    SendText(writer, 403, "Lifecycle API is not enabled.");
  };
  const auto only_post = [](const auto&, const auto&, Writer writer) {
    SendText(writer, 405, "Only POST or PUT requests allowed");
  };
  router_.Add(
      kPostOrPut, "/-/reload", Gate::kOpen,
      !enabled ? RouteHandler(refuse) : [this](const auto&, const auto&, Writer writer) {
        const absl::Status status = context_.config->Reload();
        if (status.ok()) return SendText(writer, 200, "");
        SendText(writer, 500,
                 base::StrCat("failed to reload config: ", base::Message(status), "\n"));
      });
  router_.Add(
      kPostOrPut, "/-/quit", Gate::kOpen,
      !enabled ? RouteHandler(refuse) : [this](const auto&, const auto&, Writer writer) {
        const bool first = context_.lifecycle->Terminate();
        SendText(writer, 200,
                 first ? "Requesting termination... Goodbye!" : "Termination already in progress.");
      });
  router_.Add(kGet, "/-/reload", Gate::kOpen, enabled ? RouteHandler(only_post) : refuse);
  router_.Add(kGet, "/-/quit", Gate::kOpen, enabled ? RouteHandler(only_post) : refuse);
}

void Web::AddQueryRoutes() {
  router_.Add(kGetOrPost, "/api/v1/query", Gate::kNeedsReady,
              WithParams([this](const Params& params, const auto&, Writer writer) {
                services_.query->Instant(params, std::move(writer));
              }));
  router_.Add(kGetOrPost, "/api/v1/query_range", Gate::kNeedsReady,
              WithParams([this](const Params& params, const auto&, Writer writer) {
                services_.query->Range(params, std::move(writer));
              }));
  router_.Add(kGetOrPost, "/api/v1/series", Gate::kNeedsReady,
              WithParams([this](const Params& params, const auto&, Writer writer) {
                HandleSeries(params, *services_.database, std::move(writer));
              }));
  router_.Add(kGetOrPost, "/api/v1/labels", Gate::kNeedsReady,
              WithParams([this](const Params& params, const auto&, Writer writer) {
                HandleLabels(params, *services_.database, std::move(writer));
              }));
  router_.Add(kGet, "/api/v1/label/:name/values", Gate::kNeedsReady,
              WithParams([this](const Params& params, const PathValues& values, Writer writer) {
                HandleLabelValues(values.find("name")->second, params, *services_.database,
                                  std::move(writer));
              }));
}

void Web::AddTargetRoutes() {
  router_.Add(kGet, "/api/v1/targets", Gate::kNeedsReady,
              WithParams([this](const Params& params, const auto&, Writer writer) {
                HandleTargets(params, *services_.scrape, context_.external_url, std::move(writer));
              }));
  router_.Add(kGet, "/api/v1/scrape_pools", Gate::kNeedsReady,
              WithParams([this](const Params&, const auto&, Writer writer) {
                HandleScrapePools(*services_.scrape, std::move(writer));
              }));
  router_.Add(kGet, "/api/v1/targets/metadata", Gate::kNeedsReady,
              WithParams([this](const Params& params, const auto&, Writer writer) {
                HandleTargetMetadata(params, *services_.scrape, std::move(writer));
              }));
  router_.Add(kGet, "/api/v1/metadata", Gate::kNeedsReady,
              WithParams([this](const Params& params, const auto&, Writer writer) {
                HandleMetadata(params, *services_.scrape, std::move(writer));
              }));
}

void Web::AddStatusRoutes() {
  router_.Add(kGet, "/api/v1/status/config", Gate::kNeedsReady,
              [this](const auto&, const auto&, Writer writer) {
                HandleConfig(ConfigYaml(*context_.config->current()), std::move(writer));
              });
  router_.Add(kGet, "/api/v1/status/flags", Gate::kNeedsReady,
              [this](const auto&, const auto&, Writer writer) {
                HandleFlags(context_.flags->All(), std::move(writer));
              });
  router_.Add(kGet, "/api/v1/status/buildinfo", Gate::kNeedsReady,
              [](const auto&, const auto&, Writer writer) { HandleBuildInfo(std::move(writer)); });
  router_.Add(kGet, "/api/v1/status/runtimeinfo", Gate::kNeedsReady,
              [this](const auto&, const auto&, Writer writer) {
                RuntimeInfo info;
                info.start_time_ms = context_.start_time_ms;
                info.now_ms = context_.clock->NowMs();
                info.reload_config_success = context_.config->last_reload_successful();
                info.last_config_time_ms = context_.config->last_success_ms();
                info.corruption_count = services_.database->num_wal_corruptions();
                HandleRuntimeInfo(info, std::move(writer));
              });
  router_.Add(kGet, "/api/v1/status/tsdb", Gate::kNeedsReady,
              WithParams([this](const Params& params, const auto&, Writer writer) {
                HandleTsdbStatus(params, *services_.database, std::move(writer));
              }));
  router_.Add(kGet, "/api/v1/status/walreplay", Gate::kOpen,
              [this](const auto&, const auto&, Writer writer) {
                db::ReplayProgress progress;
                {
                  base::MutexLock lock(&progress_mutex_);
                  progress = progress_;
                }
                HandleWalReplay(progress, std::move(writer));
              });
}

void Web::AddMetricsRoute() {
  base::Family<base::Counter>* requests =
      context_.registry->AddCounterFamily("promhttp_metric_handler_requests_total",
                                          "Total number of scrapes by HTTP status code.", {"code"});
  base::Gauge* in_flight = context_.registry->AddGauge("promhttp_metric_handler_requests_in_flight",
                                                       "Current number of scrapes being served.");
  for (const char* code : {"200", "500", "503"}) requests->With({code});
  router_.Add(
      kGet, "/metrics", Gate::kOpen,
      [this, requests, in_flight](const net::HttpRequest& request, const auto&, Writer writer) {
        in_flight->Add(1);
        const codec::NegotiatedFormat format =
            codec::NegotiateFormat(net::FindHeader(request.headers, "Accept"));
        writer->Send(200, {{"Content-Type", format.content_type}},
                     codec::WriteExposition(context_.registry->Collect(), format.format));
        requests->With({"200"})->Add();
        in_flight->Add(-1);
      });
}

void Web::AddReceiverRoute() {
  router_.Add({"POST"}, "/api/v1/write", Gate::kNeedsReady,
              [this](const net::HttpRequest& request, const auto&, Writer writer) {
                if (services_.receiver == nullptr) {
                  return SendText(writer, 404,
                                  "remote write receiver needs to be enabled with "
                                  "--web.enable-remote-write-receiver\n");
                }
                remote::WriteReply reply = services_.receiver->Handle(
                    {.method = request.method,
                     .content_type = net::FindHeader(request.headers, "Content-Type"),
                     .content_encoding = net::FindHeader(request.headers, "Content-Encoding"),
                     .body = request.body});
                if (reply.status == 204) return writer->Send(204, {}, "");
                SendText(writer, reply.status, reply.text + "\n");
              });
}

}  // namespace narthex::server
