#include "net/url.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "narthex/base/status.h"

namespace narthex::net {
namespace {

std::string Lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

absl::Status SetPort(std::string_view text, Url* url) {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, url->port);
  if (result.ec != std::errc() || result.ptr != end) {
    return base::InvalidArgument("invalid port \":", text, "\" after host");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Url> Url::Parse(std::string_view text) {
  if (std::any_of(text.begin(), text.end(),
                  [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; })) {
    return base::InvalidArgument("net/url: invalid control character in URL");
  }
  Url url;
  const size_t colon = text.find("://");
  if (colon != std::string_view::npos) url.scheme = Lowered(text.substr(0, colon));
  if (url.scheme != "http" && url.scheme != "https") {
    return base::InvalidArgument("unsupported protocol scheme \"", url.scheme, "\"");
  }
  text.remove_prefix(colon + 3);
  const size_t path = std::min(text.find_first_of("/?#"), text.size());
  std::string_view authority = text.substr(0, path);
  url.rest = text.substr(path);
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    url.user_info = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  url.port = url.scheme == "https" ? 443 : 80;
  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) {
      return base::InvalidArgument("missing ']' in host");
    }
    url.host = authority.substr(1, bracket - 1);
    port = authority.substr(bracket + 1);
  } else {
    url.host = authority.substr(0, authority.find(':'));
    port = authority.substr(url.host.size());
  }
  if (const size_t bad = url.host.find_first_of("[]<>\"\\"); bad != std::string::npos) {
    return base::InvalidArgument("invalid character \"", url.host.substr(bad, 1),
                                 "\" in host name");
  }
  if (url.host.empty()) return base::InvalidArgument("http: no Host in request URL");
  if (port.starts_with(':')) port.remove_prefix(1);
  if (!port.empty()) NX_RETURN_IF_ERROR(SetPort(port, &url));
  return url;
}

std::string Url::HostPort() const {
  if (host.find(':') != std::string::npos) return base::StrCat("[", host, "]:", port);
  return base::StrCat(host, ":", port);
}

std::string HidePassword(std::string_view url) {
  const size_t scheme_end = url.find("://");
  if (scheme_end == std::string_view::npos) return std::string(url);
  const size_t start = scheme_end + 3;
  const size_t end = std::min(url.find_first_of("/?#", start), url.size());
  const size_t at = url.substr(0, end).rfind('@');
  const size_t colon = url.find(':', start);
  if (at == std::string_view::npos || at < start || colon >= at) return std::string(url);
  return base::StrCat(url.substr(0, colon), ":***", url.substr(at));
}

std::string FetchError(std::string_view method, std::string_view url, std::string_view reason) {
  std::string verb = Lowered(method);
  if (!verb.empty()) verb[0] = method[0];
  return base::StrCat(verb, " \"", HidePassword(url), "\": ", reason);
}

}  // namespace narthex::net
