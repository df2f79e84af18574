#include "tests/net/text_properties.h"

#include "narthex/base/check.h"
#include "narthex/net/http_server.h"
#include "net/content_encoding.h"
#include "net/headers.h"
#include "net/oauth2_token.h"
#include "net/url.h"

namespace narthex::net {
namespace {

std::string EscapedAll(std::string_view text) {
  static constexpr char kHexDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
  }
  return out;
}

}  // namespace

void CheckTextProperties(std::string_view bytes) {
  // Pairs that were read are read again from their escaped form, and never hold more than came in.
  if (const auto pairs = ParseForm(bytes); pairs.ok()) {
    std::string again;
    size_t num_bytes = 0;
    for (const auto& [key, value] : *pairs) {
      base::StrAppend(&again, again.empty() ? "" : "&", EscapedAll(key), "=", EscapedAll(value));
      num_bytes += key.size() + value.size();
    }
    NX_CHECK_LE(num_bytes, bytes.size());
    NX_CHECK(ParseForm(again).value() == *pairs);
  }
  NX_CHECK(PercentDecode(EscapedAll(bytes), PlusSign::kLiteral).value() == bytes);

  if (const auto url = Url::Parse(bytes); url.ok()) {
    NX_CHECK(!url->host.empty());
    const auto again = Url::Parse(base::StrCat(url->scheme, "://", url->HostPort(), url->rest));
    NX_CHECK(again.ok() && again->host == url->host && again->port == url->port);
    NX_CHECK(again->rest == url->rest);
  }
  NX_CHECK(HidePassword(HidePassword(bytes)) == HidePassword(bytes));

  if (const auto token = ParseTokenResponse({200, "OK", {}, std::string(bytes)}); token.ok()) {
    NX_CHECK(!token->authorization.empty() && token->lifetime_ms >= 0);
  }
  NX_CHECK(PickEncoding(bytes) == ContentEncoding::kIdentity ||
           HasToken("gzip, deflate", NameOf(PickEncoding(bytes))));
  NX_CHECK(!HasToken(bytes, "a,b"));
}

}  // namespace narthex::net
