// Prints a configuration as YAML, every default spelt out and every secret hidden.

#include "narthex/base/duration.h"
#include "narthex/base/float_text.h"
#include "narthex/base/strings.h"
#include "server/config/config.h"
#include "server/json_writer.h"

namespace narthex::server {
namespace {

// Emits block-style YAML; scalars that are texts are double-quoted JSON strings, which are YAML.
class YamlWriter {
 public:
  void Line(std::string_view text) {
    out_.append(indent_, ' ');
    if (item_) {
      out_[out_.size() - 2] = '-';
      item_ = false;
    }
    base::StrAppend(&out_, text, "\n");
  }
  void Raw(std::string_view key, std::string_view value) { Line(base::StrCat(key, ": ", value)); }
  void Text(std::string_view key, std::string_view value) { Raw(key, Quoted(value)); }
  void TextIfSet(std::string_view key, std::string_view value) {
    if (!value.empty()) Text(key, value);
  }
  void Secret(std::string_view key, std::string_view value) {
    if (!value.empty()) Raw(key, "<secret>");
  }
  void Bool(std::string_view key, bool value) { Raw(key, value ? "true" : "false"); }
  void BoolIfSet(std::string_view key, bool value) {
    if (value) Bool(key, value);
  }
  void Duration(std::string_view key, int64_t ms) { Raw(key, base::FormatDuration(ms)); }
  void NumberIfSet(std::string_view key, uint64_t value) {
    if (value != 0) Raw(key, base::StrCat(value));
  }
  void Texts(std::string_view key, const std::vector<std::string>& texts) {
    if (texts.empty()) return;
    Line(base::StrCat(key, ":"));
    for (const std::string& text : texts) Line(base::StrCat("- ", Quoted(text)));
  }
  void TextMap(std::string_view key, const std::map<std::string, std::string>& map) {
    if (map.empty()) return;
    Open(key);
    for (const auto& [name, value] : map) Text(Quoted(name), value);
    Close();
  }
  void Open(std::string_view key) {
    Line(base::StrCat(key, ":"));
    indent_ += 2;
  }
  void Close() { indent_ -= 2; }
  // A list item at this depth: the lines that `write` writes.
  template <typename Write>
  void Item(Write write) {
    indent_ += 2;
    item_ = true;
    write();
    indent_ -= 2;
  }
  std::string Take() { return std::move(out_); }

  static std::string Quoted(std::string_view text) {
    std::string out;
    AppendJsonString(&out, text);
    return out;
  }

 private:
  std::string out_;
  size_t indent_ = 0;
  bool item_ = false;
};

void WriteTls(const net::TlsClientOptions& tls, YamlWriter* out) {
  out->Open("tls_config");
  out->TextIfSet("ca", tls.ca);
  out->TextIfSet("cert", tls.cert);
  out->Secret("key", tls.key);
  out->TextIfSet("ca_file", tls.ca_file);
  out->TextIfSet("cert_file", tls.cert_file);
  out->TextIfSet("key_file", tls.key_file);
  out->TextIfSet("server_name", tls.server_name);
  out->TextIfSet("min_version", tls.min_version);
  out->TextIfSet("max_version", tls.max_version);
  out->Bool("insecure_skip_verify", tls.insecure_skip_verify);
  out->Close();
}

void WriteHttpClient(const net::HttpClientOptions& http, YamlWriter* out) {
  if (http.has_basic_auth) {
    out->Open("basic_auth");
    out->Text("username", http.username);
    out->TextIfSet("username_file", http.username_file);
    out->Secret("password", http.password);
    out->TextIfSet("password_file", http.password_file);
    out->Close();
  }
  if (!http.authorization_type.empty()) {
    out->Open("authorization");
    out->Text("type", http.authorization_type);
    out->Secret("credentials", http.credentials);
    out->TextIfSet("credentials_file", http.credentials_file);
    out->Close();
  }
  if (http.oauth2.enabled()) {
    out->Open("oauth2");
    out->Text("client_id", http.oauth2.client_id);
    out->Secret("client_secret", http.oauth2.client_secret);
    out->TextIfSet("client_secret_file", http.oauth2.client_secret_file);
    out->Texts("scopes", http.oauth2.scopes);
    out->Text("token_url", http.oauth2.token_url);
    out->TextMap("endpoint_params", http.oauth2.endpoint_params);
    if (http.oauth2.tls != net::TlsClientOptions{}) WriteTls(http.oauth2.tls, out);
    out->Close();
  }
  if (http.tls != net::TlsClientOptions{}) WriteTls(http.tls, out);
  out->Bool("follow_redirects", http.follow_redirects);
  out->Bool("enable_http2", http.enable_http2);
  out->TextIfSet("proxy_url", http.proxy_url);
  out->TextIfSet("no_proxy", http.no_proxy);
  out->BoolIfSet("proxy_from_environment", http.proxy_from_environment);
  for (const auto& [key, headers] : {std::pair{"proxy_connect_header", &http.proxy_connect_headers},
                                     std::pair{"http_headers", &http.headers}}) {
    if (headers->empty()) continue;
    out->Open(key);
    for (const auto& [name, value] : *headers) out->Raw(YamlWriter::Quoted(name), "<secret>");
    out->Close();
  }
}

std::string ProtocolList(const std::vector<scrape::ScrapeProtocol>& protocols) {
  std::string out = "[";
  for (const scrape::ScrapeProtocol protocol : protocols) {
    base::StrAppend(&out, out.size() == 1 ? "" : ", ", scrape::ScrapeProtocolName(protocol));
  }
  return out + "]";
}

void WriteLimits(const scrape::PoolOptions& limits, YamlWriter* out) {
  if (limits.body_size_limit != 0) {
    out->Raw("body_size_limit", base::FormatSizeBytes(limits.body_size_limit));
  }
  out->NumberIfSet("sample_limit", limits.sample_limit);
  out->NumberIfSet("target_limit", limits.target_limit);
  out->NumberIfSet("label_limit", limits.label_limit);
  out->NumberIfSet("label_name_length_limit", limits.label_name_length_limit);
  out->NumberIfSet("label_value_length_limit", limits.label_value_length_limit);
  out->NumberIfSet("keep_dropped_targets", limits.keep_dropped_targets);
  out->Text("metric_name_validation_scheme",
            limits.name_validation == model::NameValidation::kUtf8 ? "utf8" : "legacy");
  out->Text("metric_name_escaping_scheme", scrape::NameEscapingName(limits.name_escaping));
}

void WriteHistogramSettings(const scrape::PoolOptions& options, YamlWriter* out) {
  out->Bool("scrape_native_histograms", options.scrape_native_histograms);
  out->Bool("convert_classic_histograms_to_nhcb", options.convert_classic_histograms_to_nhcb);
  out->Bool("always_scrape_classic_histograms", options.always_scrape_classic_histograms);
  out->Bool("extra_scrape_metrics", options.extra_scrape_metrics);
}

void WriteRelabel(std::string_view key, const std::vector<model::RelabelConfig>& configs,
                  YamlWriter* out) {
  if (configs.empty()) return;
  out->Open(key);
  for (const model::RelabelConfig& config : configs) {
    out->Item([&] {
      out->Text("action", config.action);
      out->Texts("source_labels", config.source_labels);
      out->Text("separator", config.separator);
      out->Text("regex", config.regex);
      out->NumberIfSet("modulus", config.modulus);
      out->TextIfSet("target_label", config.target_label);
      out->Text("replacement", config.replacement);
    });
  }
  out->Close();
}

void WriteStatic(const std::vector<scrape::TargetGroup>& groups, YamlWriter* out) {
  if (groups.empty()) return;
  out->Open("static_configs");
  for (const scrape::TargetGroup& group : groups) {
    std::vector<std::string> addresses;
    for (const scrape::LabelMap& target : group.targets) {
      if (const auto found = target.find("__address__"); found != target.end()) {
        addresses.push_back(found->second);
      }
    }
    out->Item([&] {
      if (addresses.empty()) out->Raw("targets", "[]");
      out->Texts("targets", addresses);
      out->TextMap("labels", group.labels);
    });
  }
  out->Close();
}

void WriteScrapeConfig(const scrape::PoolOptions& config, YamlWriter* out) {
  out->Text("job_name", config.job_name);
  out->BoolIfSet("honor_labels", config.honor_labels);
  out->Bool("honor_timestamps", config.honor_timestamps);
  out->Bool("track_timestamps_staleness", config.track_timestamps_staleness);
  if (!config.params.empty()) {
    out->Open("params");
    for (const auto& [name, values] : config.params) out->Texts(YamlWriter::Quoted(name), values);
    out->Close();
  }
  out->Duration("scrape_interval", config.scrape_interval_ms);
  out->Duration("scrape_timeout", config.scrape_timeout_ms);
  out->Raw("scrape_protocols", ProtocolList(config.protocols));
  if (config.fallback_protocol) {
    out->Text("fallback_scrape_protocol", scrape::ScrapeProtocolName(*config.fallback_protocol));
  }
  WriteHistogramSettings(config, out);
  out->NumberIfSet("native_histogram_bucket_limit", config.native_histogram_bucket_limit);
  if (config.native_histogram_min_bucket_factor != 0) {
    std::string factor;
    base::AppendFloatJson(&factor, config.native_histogram_min_bucket_factor);
    out->Raw("native_histogram_min_bucket_factor", factor);
  }
  out->TextIfSet("scrape_failure_log_file", config.scrape_failure_log_file);
  out->Text("metrics_path", config.metrics_path);
  out->Text("scheme", config.scheme);
  out->Bool("enable_compression", config.enable_compression);
  WriteLimits(config, out);
  WriteHttpClient(config.http, out);
  WriteRelabel("relabel_configs", config.relabel_configs, out);
  WriteRelabel("metric_relabel_configs", config.metric_relabel_configs, out);
  WriteStatic(config.static_groups, out);
}

}  // namespace

std::string ConfigYaml(const Config& config) {
  const GlobalConfig& global = config.global;
  YamlWriter out;
  out.Open("global");
  out.Duration("scrape_interval", global.scrape_interval_ms);
  out.Duration("scrape_timeout", global.scrape_timeout_ms);
  out.Raw("scrape_protocols",
          ProtocolList(EffectiveProtocols(global, global.defaults.scrape_native_histograms)));
  out.Duration("evaluation_interval", global.evaluation_interval_ms);
  if (global.rule_query_offset_ms != 0) {
    out.Duration("rule_query_offset", global.rule_query_offset_ms);
  }
  out.TextIfSet("query_log_file", global.query_log_file);
  out.TextIfSet("scrape_failure_log_file", global.defaults.scrape_failure_log_file);
  out.TextMap("external_labels", global.external_labels);
  WriteLimits(global.defaults, &out);
  WriteHistogramSettings(global.defaults, &out);
  out.Close();
  if (!config.scrape_configs.empty()) {
    out.Line("scrape_configs:");
    for (const scrape::PoolOptions& scrape_config : config.scrape_configs) {
      out.Item([&] { WriteScrapeConfig(scrape_config, &out); });
    }
  }
  return out.Take();
}

}  // namespace narthex::server
