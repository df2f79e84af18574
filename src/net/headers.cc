#include "net/headers.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "narthex/base/status.h"

namespace narthex::net {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool IsTokenChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendTwoDigits(std::string* out, int number) {
  out->push_back(static_cast<char>('0' + number / 10));
  out->push_back(static_cast<char>('0' + number % 10));
}

}  // namespace

bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string_view Trim(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t");
  if (start == std::string_view::npos) return "";
  return text.substr(start, text.find_last_not_of(" \t") - start + 1);
}

bool HasToken(std::string_view value, std::string_view token) {
  while (true) {
    const size_t comma = value.find(',');
    if (EqualsIgnoringCase(Trim(value.substr(0, comma)), token)) return true;
    if (comma == std::string_view::npos) return false;
    value.remove_prefix(comma + 1);
  }
}

bool IsValidHeader(std::string_view name, std::string_view value) {
  return !name.empty() && std::all_of(name.begin(), name.end(), IsTokenChar) &&
         std::none_of(value.begin(), value.end(), [](char c) {
           return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
         });
}

std::string HttpDate(int64_t time_ms) {
  static constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
  static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const std::time_t seconds = time_ms / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::string out(kDays.substr(static_cast<size_t>(utc.tm_wday) * 3, 3));
  out += ", ";
  AppendTwoDigits(&out, utc.tm_mday);
  base::StrAppend(&out, " ", kMonths.substr(static_cast<size_t>(utc.tm_mon) * 3, 3), " ",
                  utc.tm_year + 1900, " ");
  AppendTwoDigits(&out, utc.tm_hour);
  out += ':';
  AppendTwoDigits(&out, utc.tm_min);
  out += ':';
  AppendTwoDigits(&out, utc.tm_sec);
  out += " GMT";
  return out;
}

std::string_view ReasonOf(int status) {
  static constexpr std::pair<int, std::string_view> kReasons[] = {
      {100, "Continue"},
      {101, "Switching Protocols"},
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {206, "Partial Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {303, "See Other"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {402, "Payment Required"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {407, "Proxy Authentication Required"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {411, "Length Required"},
      {412, "Precondition Failed"},
      {413, "Request Entity Too Large"},
      {414, "Request URI Too Long"},
      {415, "Unsupported Media Type"},
      {416, "Requested Range Not Satisfiable"},
      {417, "Expectation Failed"},
      {418, "I'm a teapot"},
      {421, "Misdirected Request"},
      {422, "Unprocessable Entity"},
      {425, "Too Early"},
      {426, "Upgrade Required"},
      {428, "Precondition Required"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {451, "Unavailable For Legal Reasons"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
      {507, "Insufficient Storage"},
      {511, "Network Authentication Required"},
  };
  for (const auto& [code, reason] : kReasons) {
    if (code == status) return reason;
  }
  return "";
}

absl::StatusOr<std::string> PercentDecode(std::string_view text, PlusSign plus_sign) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_sign == PlusSign::kSpace) {
      out.push_back(' ');
    } else if (text[i] != '%') {
      out.push_back(text[i]);
    } else {
      const int high = i + 1 < text.size() ? HexValue(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexValue(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return base::InvalidArgument("invalid URL escape \"", text.substr(i, 3), "\"");
      }
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return out;
}

std::string_view FindHeader(const HeaderList& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (EqualsIgnoringCase(key, name)) return value;
  }
  return "";
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParseForm(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    if (pair.find(';') != std::string_view::npos) {
      return base::InvalidArgument("invalid semicolon separator in query");
    }
    const size_t equals = std::min(pair.find('='), pair.size());
    NX_ASSIGN_OR_RETURN(std::string key, PercentDecode(pair.substr(0, equals), PlusSign::kSpace));
    NX_ASSIGN_OR_RETURN(
        std::string value,
        PercentDecode(pair.substr(std::min(equals + 1, pair.size())), PlusSign::kSpace));
    pairs.emplace_back(std::move(key), std::move(value));
  }
  return pairs;
}

}  // namespace narthex::net
