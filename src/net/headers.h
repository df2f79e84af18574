// Small text of HTTP: header lookups, token comparison, dates. Pure; free functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "narthex/net/http_server.h"

namespace narthex::net {

bool EqualsIgnoringCase(std::string_view a, std::string_view b);

// Without spaces and tabs at both ends.
std::string_view Trim(std::string_view text);

// True if the comma-separated list `value` holds `token`, in any case.
bool HasToken(std::string_view value, std::string_view token);

// A name that is a token and a value without control characters: nothing that would end the header.
bool IsValidHeader(std::string_view name, std::string_view value);

// "Mon, 17 Aug 2026 10:00:00 GMT"
std::string HttpDate(int64_t time_ms);

// The usual reason of a status code: "Not Found"; "" if there is none.
std::string_view ReasonOf(int status);

// Percent escapes replaced; '+' becomes a space in a query only.
enum class PlusSign : uint8_t { kLiteral, kSpace };
absl::StatusOr<std::string> PercentDecode(std::string_view text, PlusSign plus_sign);

}  // namespace narthex::net
