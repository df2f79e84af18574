#include "codec/exposition/media_type.h"

#include "narthex/base/status.h"

namespace narthex::codec {
namespace {

bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\v' || c == '\f' || c == '\r';
}

bool IsSpecial(char c) {
  return std::string_view("()<>@,;:\\\"/[]?=").find(c) != std::string::npos;
}

bool IsTokenByte(char c) { return c > 0x20 && c < 0x7f && !IsSpecial(c); }

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

void TrimLeft(std::string_view* text) {
  while (!text->empty() && IsSpace(text->front())) text->remove_prefix(1);
}

std::string_view Trim(std::string_view text) {
  TrimLeft(&text);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view TakeToken(std::string_view* text) {
  size_t size = 0;
  while (size < text->size() && IsTokenByte((*text)[size])) ++size;
  const std::string_view token = text->substr(0, size);
  text->remove_prefix(size);
  return token;
}

// Takes a token or a quoted string. False, and nothing taken, if there is neither.
bool TakeValue(std::string_view* text, std::string* value) {
  if (text->empty() || text->front() != '"') {
    *value = TakeToken(text);
    return !value->empty();
  }
  for (size_t i = 1; i < text->size(); ++i) {
    const char c = (*text)[i];
    if (c == '"') {
      text->remove_prefix(i + 1);
      return true;
    }
    if (c == '\r' || c == '\n') return false;
    // A backslash escapes special bytes only: Windows paths arrive unescaped.
    if (c == '\\' && i + 1 < text->size() && IsSpecial((*text)[i + 1])) ++i;
    value->push_back((*text)[i]);
  }
  return false;
}

// Takes `; name=value`. False, and nothing taken, if it is malformed.
bool TakeParameter(std::string_view* text, std::pair<std::string, std::string>* parameter) {
  std::string_view rest = *text;
  TrimLeft(&rest);
  if (rest.empty() || rest.front() != ';') return false;
  rest.remove_prefix(1);
  TrimLeft(&rest);
  parameter->first = ToLower(TakeToken(&rest));
  if (parameter->first.empty()) return false;
  TrimLeft(&rest);
  if (rest.empty() || rest.front() != '=') return false;
  rest.remove_prefix(1);
  TrimLeft(&rest);
  if (!TakeValue(&rest, &parameter->second)) return false;
  *text = rest;
  return true;
}

absl::Status CheckType(std::string_view type) {
  if (TakeToken(&type).empty()) return base::InvalidArgument("mime: no media type");
  if (type.empty()) return absl::OkStatus();
  if (type.front() != '/') {
    return base::InvalidArgument("mime: expected slash after first token");
  }
  type.remove_prefix(1);
  if (TakeToken(&type).empty()) {
    return base::InvalidArgument("mime: expected token after slash");
  }
  if (!type.empty()) {
    return base::InvalidArgument("mime: unexpected content after media subtype");
  }
  return absl::OkStatus();
}

}  // namespace

std::string_view MediaType::Parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

absl::StatusOr<MediaType> ParseMediaType(std::string_view header) {
  MediaType media;
  const size_t end = std::min(header.find(';'), header.size());
  media.type = ToLower(Trim(header.substr(0, end)));
  NX_RETURN_IF_ERROR(CheckType(media.type));
  header.remove_prefix(end);
  TrimLeft(&header);
  while (!header.empty()) {
    std::pair<std::string, std::string> parameter;
    if (!TakeParameter(&header, &parameter)) {
      if (Trim(header) == ";") break;  // A semicolon at the end is common.
      return base::InvalidArgument("mime: invalid media parameter");
    }
    for (const auto& [key, value] : media.parameters) {
      if (key == parameter.first && value != parameter.second) {
        return base::InvalidArgument("mime: duplicate parameter name");
      }
    }
    media.parameters.push_back(std::move(parameter));
    TrimLeft(&header);
  }
  return media;
}

}  // namespace narthex::codec
