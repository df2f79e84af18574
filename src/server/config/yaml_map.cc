#include "server/config/yaml_map.h"

#include <charconv>

#include "narthex/base/duration.h"
#include "narthex/base/float_text.h"
#include "narthex/base/status.h"

namespace narthex::server {

using base::YamlNode;

YamlMap::YamlMap(const YamlNode& node, std::string_view section) : node_(node), section_(section) {
  if (node.kind == YamlNode::Kind::kScalar || node.kind == YamlNode::Kind::kList) {
    Error(node.line, base::StrCat("want a map of settings for ", section));
  }
}

void YamlMap::Error(int line, std::string_view text) {
  if (status_.ok()) status_ = base::InvalidArgument("line ", line, ": ", text);
}

void YamlMap::Check(const absl::Status& status, int line) {
  if (!status.ok()) Error(line, base::Message(status));
}

const YamlNode* YamlMap::Node(std::string_view key) {
  known_.emplace(key);
  const YamlNode* node = node_.Find(key);
  return node == nullptr || node->kind == YamlNode::Kind::kNull ? nullptr : node;
}

const YamlNode* YamlMap::Scalar(std::string_view key, std::string_view want) {
  const YamlNode* node = Node(key);
  if (node == nullptr) return nullptr;
  if (node->kind == YamlNode::Kind::kScalar) return node;
  Error(node->line, base::StrCat("field ", key, " in ", section_, " wants ", want));
  return nullptr;
}

bool YamlMap::String(std::string_view key, std::string* out) {
  const YamlNode* node = Scalar(key, "a text");
  if (node == nullptr) return false;
  *out = node->text;
  return true;
}

bool YamlMap::Bool(std::string_view key, bool* out) {
  const YamlNode* node = Scalar(key, "true or false");
  if (node == nullptr) return false;
  static const std::set<std::string_view> kTrue = {"true", "True", "TRUE", "yes", "Yes",
                                                   "YES",  "on",   "On",   "ON"};
  static const std::set<std::string_view> kFalse = {"false", "False", "FALSE", "no", "No",
                                                    "NO",    "off",   "Off",   "OFF"};
  if (!node->quoted && kTrue.contains(node->text)) {
    *out = true;
  } else if (!node->quoted && kFalse.contains(node->text)) {
    *out = false;
  } else {
    Error(node->line, base::StrCat("cannot unmarshal \"", node->text, "\" into bool (field ", key,
                                   " in ", section_, ")"));
    return false;
  }
  return true;
}

namespace {

template <typename Number>
bool ParseNumber(const std::string& text, Number* out) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, *out);
  return result.ec == std::errc() && result.ptr == end && !text.empty();
}

}  // namespace

bool YamlMap::Unsigned(std::string_view key, uint64_t* out) {
  const YamlNode* node = Scalar(key, "a whole number");
  if (node == nullptr) return false;
  if (ParseNumber(node->text, out)) return true;
  Error(node->line, base::StrCat("field ", key, " in ", section_,
                                 " wants a whole number not below 0, got \"", node->text, "\""));
  return false;
}

bool YamlMap::Signed(std::string_view key, int64_t* out) {
  const YamlNode* node = Scalar(key, "a whole number");
  if (node == nullptr) return false;
  if (ParseNumber(node->text, out)) return true;
  Error(node->line, base::StrCat("field ", key, " in ", section_, " wants a whole number, got \"",
                                 node->text, "\""));
  return false;
}

bool YamlMap::Double(std::string_view key, double* out) {
  const YamlNode* node = Scalar(key, "a number");
  if (node == nullptr) return false;
  if (const auto value = base::ParseFloat(node->text)) {
    *out = *value;
    return true;
  }
  Error(node->line,
        base::StrCat("field ", key, " in ", section_, " wants a number, got \"", node->text, "\""));
  return false;
}

bool YamlMap::DurationMs(std::string_view key, int64_t* out) {
  const YamlNode* node = Scalar(key, "a duration");
  if (node == nullptr) return false;
  const auto value = base::ParseDurationMs(node->text);
  Check(value.status(), node->line);
  if (value.ok()) *out = *value;
  return value.ok();
}

bool YamlMap::SizeBytes(std::string_view key, uint64_t* out) {
  const YamlNode* node = Scalar(key, "a size");
  if (node == nullptr) return false;
  const auto value = base::ParseSizeBytes(node->text);
  Check(value.status(), node->line);
  if (value.ok()) *out = *value;
  return value.ok();
}

absl::StatusOr<std::vector<std::string>> YamlStrings(const YamlNode& node) {
  std::vector<std::string> out;
  if (node.kind == YamlNode::Kind::kNull) return out;
  if (node.kind != YamlNode::Kind::kList) {
    return base::InvalidArgument("line ", node.line, ": want a list of texts");
  }
  for (const YamlNode& item : node.items) {
    if (item.kind == YamlNode::Kind::kList || item.kind == YamlNode::Kind::kMap) {
      return base::InvalidArgument("line ", item.line, ": want a text");
    }
    out.push_back(item.text);
  }
  return out;
}

bool YamlMap::Strings(std::string_view key, std::vector<std::string>* out) {
  const YamlNode* node = Node(key);
  if (node == nullptr) return false;
  auto texts = YamlStrings(*node);
  if (!texts.ok()) {
    if (status_.ok()) status_ = texts.status();
    return false;
  }
  *out = *std::move(texts);
  return true;
}

bool YamlMap::StringMap(std::string_view key, std::map<std::string, std::string>* out) {
  const YamlNode* node = Node(key);
  if (node == nullptr) return false;
  YamlMap map(*node, key);
  for (const auto& [name, value] : node->pairs) {
    (*out)[name].clear();
    map.String(name, &(*out)[name]);
  }
  const absl::Status status = map.Finish();
  if (status_.ok()) status_ = status;
  return status.ok();
}

bool YamlMap::StringListMap(std::string_view key,
                            std::map<std::string, std::vector<std::string>>* out) {
  const YamlNode* node = Node(key);
  if (node == nullptr) return false;
  YamlMap map(*node, key);
  for (const auto& [name, value] : node->pairs) map.Strings(name, &(*out)[name]);
  const absl::Status status = map.Finish();
  if (status_.ok()) status_ = status;
  return status.ok();
}

std::vector<const YamlNode*> YamlMap::List(std::string_view key, std::string_view null_item_error) {
  std::vector<const YamlNode*> out;
  const YamlNode* node = Node(key);
  if (node == nullptr) return out;
  if (node->kind != YamlNode::Kind::kList) {
    Error(node->line, base::StrCat("field ", key, " in ", section_, " wants a list"));
    return out;
  }
  for (const YamlNode& item : node->items) {
    if (item.kind == YamlNode::Kind::kNull) {
      Error(item.line, null_item_error);
      return {};
    }
    out.push_back(&item);
  }
  return out;
}

absl::Status YamlMap::Finish() {
  for (const auto& [key, value] : node_.pairs) {
    if (!known_.contains(key)) {
      Error(value.line, base::StrCat("field ", key, " not found in ", section_));
    }
  }
  return status_;
}

}  // namespace narthex::server
