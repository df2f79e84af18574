#include "narthex/base/yaml.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "narthex/base/status.h"

namespace narthex::base {
namespace {

constexpr int kMaxDepth = 100;
constexpr size_t kMaxNodes = 1'000'000;

// Copies yaml-cpp's graph (aliases share nodes) into a tree, counting what it makes.
class TreeCopier {
 public:
  explicit TreeCopier(const std::string& text) : text_(text) {}

  absl::Status Copy(const YAML::Node& from, int depth, YamlNode* to) {
    to->line = from.Mark().line + 1;
    if (depth > kMaxDepth) return Error(from, "nested too deeply");
    if (++num_nodes_ > kMaxNodes) return Error(from, "document is too large");
    switch (from.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        return absl::OkStatus();
      case YAML::NodeType::Scalar:
        return CopyScalar(from, to);
      case YAML::NodeType::Sequence:
        to->kind = YamlNode::Kind::kList;
        to->items.resize(from.size());
        for (size_t i = 0; i < from.size(); ++i) {
          NX_RETURN_IF_ERROR(Copy(from[i], depth + 1, &to->items[i]));
          if (IsUnwritten(from[i])) to->items[i].line = std::max(to->line, to->items[i].line - 1);
        }
        return absl::OkStatus();
      case YAML::NodeType::Map:
        to->kind = YamlNode::Kind::kMap;
        return CopyMap(from, depth, to);
    }
    return absl::OkStatus();
  }

 private:
  // A null that is no "~" or "null" but nothing at all: its mark is that of the next token.
  bool IsUnwritten(const YAML::Node& node) const {
    if (!node.IsNull()) return false;
    const auto position = static_cast<size_t>(std::max(node.Mark().pos, 0));
    return position >= text_.size() ||
           std::string_view("~nN").find(text_[position]) == std::string_view::npos;
  }

  static absl::Status Error(const YAML::Node& at, std::string_view reason) {
    return InvalidArgument("line ", at.Mark().line + 1, ": ", reason);
  }

  static absl::Status CopyScalar(const YAML::Node& from, YamlNode* to) {
    to->quoted = from.Tag() == "!" || from.Tag() == "tag:yaml.org,2002:str";
    to->text = from.Scalar();
    const bool is_null =
        !to->quoted && (to->text.empty() || to->text == "~" || to->text == "null" ||
                        to->text == "Null" || to->text == "NULL");
    to->kind = is_null ? YamlNode::Kind::kNull : YamlNode::Kind::kScalar;
    return absl::OkStatus();
  }

  // Own keys win over merged ones ("<<"), wherever they stand.
  absl::Status CopyMap(const YAML::Node& from, int depth, YamlNode* to) {
    std::set<std::string> keys;
    std::vector<YAML::Node> merges;
    for (const auto& pair : from) {
      if (!pair.first.IsScalar() && !pair.first.IsNull())
        return Error(pair.first, "a key is no text");
      const std::string key = pair.first.Scalar();
      if (key == "<<" && pair.first.Tag() != "!") {
        merges.push_back(pair.second);
        continue;
      }
      if (!keys.insert(key).second) {
        return Error(pair.first, StrCat("key \"", key, "\" already set in map"));
      }
      to->pairs.emplace_back(key, YamlNode());
      NX_RETURN_IF_ERROR(Copy(pair.second, depth + 1, &to->pairs.back().second));
      // A key's own line says more than where its value begins.
      to->pairs.back().second.line = pair.first.Mark().line + 1;
    }
    for (const YAML::Node& merge : merges) NX_RETURN_IF_ERROR(Merge(merge, depth, &keys, to));
    return absl::OkStatus();
  }

  absl::Status Merge(const YAML::Node& from, int depth, std::set<std::string>* keys, YamlNode* to) {
    YamlNode merged;
    NX_RETURN_IF_ERROR(Copy(from, depth + 1, &merged));
    std::vector<YamlNode> maps;
    if (merged.kind == YamlNode::Kind::kList) {
      maps = std::move(merged.items);
    } else {
      maps.push_back(std::move(merged));
    }
    for (YamlNode& map : maps) {
      if (map.kind != YamlNode::Kind::kMap) return Error(from, "map merge requires map");
      for (auto& pair : map.pairs) {
        if (keys->insert(pair.first).second) to->pairs.push_back(std::move(pair));
      }
    }
    return absl::OkStatus();
  }

  const std::string& text_;
  size_t num_nodes_ = 0;
};

}  // namespace

const YamlNode* YamlNode::Find(std::string_view key) const {
  for (const auto& [name, value] : pairs) {
    if (name == key) return &value;
  }
  return nullptr;
}

absl::StatusOr<YamlNode> ParseYaml(const std::string& text) {
  // The library reports errors by throwing; this is its only caller.
  try {
    YamlNode root;
    NX_RETURN_IF_ERROR(TreeCopier(text).Copy(YAML::Load(text), 0, &root));
    return root;
  } catch (const YAML::Exception& error) {
    // No file is read here: the library says so of what is nested beyond its own limit.
    const bool is_too_deep = error.msg == YAML::ErrorMsg::BAD_FILE;
    return InvalidArgument("line ", error.mark.line + 1, ": ",
                           is_too_deep ? "nested too deeply" : error.msg);
  }
}

}  // namespace narthex::base
