#include "scrape/target_url.h"

#include <array>

#include "narthex/base/strings.h"

namespace narthex::scrape {
namespace {

constexpr std::string_view kParamPrefix = "__param_";
constexpr std::string_view kPathBytes = "$&+,/:;=@";
constexpr std::string_view kHostBytes = "!$&'()*+,;=:[]<>\"";

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~';
}

// Appends `text` with all bytes but the unreserved ones and `also_plain` as %XX.
void AppendEscaped(std::string* out, std::string_view text, std::string_view also_plain) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : text) {
    if (IsUnreserved(c) || also_plain.find(c) != std::string_view::npos) {
      out->push_back(c);
      continue;
    }
    const auto byte = static_cast<uint8_t>(c);
    out->push_back('%');
    out->push_back(kHex[byte >> 4]);
    out->push_back(kHex[byte & 0xf]);
  }
}

// In queries a space is a plus sign.
void AppendQueryText(std::string* out, std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') {
      out->push_back('+');
    } else {
      AppendEscaped(out, text.substr(i, 1), "");
    }
  }
}

}  // namespace

std::string TargetUrl(const model::Labels& labels, const PoolOptions& options) {
  std::map<std::string, std::vector<std::string>, std::less<>> params(options.params.begin(),
                                                                      options.params.end());
  for (size_t i = 0; i < labels.size(); ++i) {
    const model::Label label = labels[i];
    if (!label.name.starts_with(kParamPrefix)) continue;
    auto& values = params[std::string(label.name.substr(kParamPrefix.size()))];
    if (values.empty()) values.emplace_back();
    values.front() = label.value;
  }

  std::string_view host = labels.Get("__address__");
  if (host.empty() && labels.Has("__unix_socket__")) host = "localhost";
  const std::string_view path = labels.Get("__metrics_path__");
  std::string url = base::StrCat(labels.Get("__scheme__"), "://");
  AppendEscaped(&url, host, kHostBytes);
  if (!path.empty() && path.front() != '/') url += '/';
  AppendEscaped(&url, path, kPathBytes);
  char separator = '?';
  for (const auto& [name, values] : params) {
    for (const std::string& value : values) {
      url += separator;
      separator = '&';
      AppendQueryText(&url, name);
      url += '=';
      AppendQueryText(&url, value);
    }
  }
  return url;
}

}  // namespace narthex::scrape
