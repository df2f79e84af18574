// Writes JSON text into a string, front to back, without a document tree. Thread-compatible.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace narthex::server {

// Appends `text` as a quoted JSON string; bytes that are no UTF-8 become U+FFFD.
void AppendJsonString(std::string* out, std::string_view text);

// Commas are placed by itself. Calls must nest as JSON does (a bug otherwise).
class JsonWriter {
 public:
  // Appends to `*out`, which may be emptied between calls (streaming).
  explicit JsonWriter(std::string* out) : out_(out) {}

  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);
  JsonWriter& String(std::string_view text);
  JsonWriter& Bool(bool value) { return Raw(value ? "true" : "false"); }
  JsonWriter& Null() { return Raw("null"); }
  JsonWriter& Int(int64_t value);
  JsonWriter& Unsigned(uint64_t value);
  // A JSON number in the API's float form; REQUIRES: finite.
  JsonWriter& Double(double value);
  // A whole JSON value that is already text.
  JsonWriter& Raw(std::string_view json);

  // Key and value in one.
  JsonWriter& Field(std::string_view key, std::string_view value) { return Key(key).String(value); }
  template <typename Value>
  requires std::is_same_v<Value, bool> JsonWriter& Field(std::string_view key, Value value) {
    return Key(key).Bool(value);
  }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void BeforeValue();

  std::string* const out_;
  std::vector<bool> has_items_;  // One for each open bracket.
  bool after_key_ = false;
};

}  // namespace narthex::server
