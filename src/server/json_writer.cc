#include "server/json_writer.h"

#include "narthex/base/check.h"
#include "narthex/base/float_text.h"
#include "narthex/base/strings.h"
#include "narthex/model/labels.h"

namespace narthex::server {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Length of the valid UTF-8 sequence at the front of `text`, 0 if it begins with none.
size_t SequenceLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t size = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (size == 0 || size > text.size()) return 0;
  return model::IsValidUtf8(text.substr(0, size)) ? size : 0;
}

void AppendEscaped(std::string* out, char c) {
  switch (c) {
    case '"':
      out->append("\\\"");
      return;
    case '\\':
      out->append("\\\\");
      return;
    case '\n':
      out->append("\\n");
      return;
    case '\r':
      out->append("\\r");
      return;
    case '\t':
      out->append("\\t");
      return;
    default:
      out->append("\\u00");
      out->push_back(kHex[static_cast<unsigned char>(c) >> 4]);
      out->push_back(kHex[static_cast<unsigned char>(c) & 15]);
  }
}

}  // namespace

void AppendJsonString(std::string* out, std::string_view text) {
  out->push_back('"');
  size_t begin = 0;  // Of the run that needs no change.
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // Fast path: plain ASCII, by far the most frequent.
    if (byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\') {
      ++i;
      continue;
    }
    if (byte >= 0x80) {
      if (const size_t size = SequenceLength(text.substr(i)); size != 0) {
        i += size;
        continue;
      }
    }
    out->append(text.substr(begin, i - begin));
    if (byte >= 0x80) {
      out->append(kReplacement);
    } else {
      AppendEscaped(out, text[i]);
    }
    begin = ++i;
  }
  out->append(text.substr(begin));
  out->push_back('"');
}

void JsonWriter::BeforeValue() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_items_.empty()) return;
  if (has_items_.back()) out_->push_back(',');
  has_items_.back() = true;
}

JsonWriter& JsonWriter::Open(char bracket) {
  BeforeValue();
  out_->push_back(bracket);
  has_items_.push_back(false);
  return *this;
}

JsonWriter& JsonWriter::Close(char bracket) {
  NX_CHECK(!has_items_.empty() && !after_key_);
  has_items_.pop_back();
  out_->push_back(bracket);
  return *this;
}

JsonWriter& JsonWriter::Key(std::string_view key) {
  BeforeValue();
  AppendJsonString(out_, key);
  out_->push_back(':');
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::String(std::string_view text) {
  BeforeValue();
  AppendJsonString(out_, text);
  return *this;
}

JsonWriter& JsonWriter::Int(int64_t value) {
  BeforeValue();
  base::StrAppend(out_, value);
  return *this;
}

JsonWriter& JsonWriter::Unsigned(uint64_t value) {
  BeforeValue();
  base::StrAppend(out_, value);
  return *this;
}

JsonWriter& JsonWriter::Double(double value) {
  BeforeValue();
  base::AppendFloatJson(out_, value);
  return *this;
}

JsonWriter& JsonWriter::Raw(std::string_view json) {
  BeforeValue();
  out_->append(json);
  return *this;
}

}  // namespace narthex::server
