#include "narthex/model/labels.h"

#include <xxhash.h>

#include <algorithm>

namespace narthex::model {

Labels Labels::FromPairs(std::vector<Label> pairs) {
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Label& a, const Label& b) { return a.name < b.name; });
  size_t num_bytes = 0;
  for (const Label& label : pairs) num_bytes += label.name.size() + label.value.size();
  Labels labels;
  labels.text_.reserve(num_bytes);
  labels.entries_.reserve(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const bool is_overruled = i + 1 < pairs.size() && pairs[i + 1].name == pairs[i].name;
    if (is_overruled || pairs[i].value.empty()) continue;
    labels.entries_.push_back({static_cast<uint32_t>(labels.text_.size()),
                               static_cast<uint32_t>(pairs[i].name.size()),
                               static_cast<uint32_t>(pairs[i].value.size())});
    labels.text_.append(pairs[i].name).append(pairs[i].value);
  }
  return labels;
}

std::string_view Labels::Get(std::string_view name) const {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const Label label = (*this)[i];
    if (label.name == name) return label.value;
  }
  return "";
}

bool Labels::Has(std::string_view name) const { return !Get(name).empty(); }

std::vector<Label> Labels::Views() const {
  std::vector<Label> views;
  views.reserve(size());
  for (size_t i = 0; i < size(); ++i) views.push_back((*this)[i]);
  return views;
}

// Equal label sets are packed equally, so the packed form can be hashed as it lies in memory.
uint64_t Labels::Hash() const {
  static_assert(sizeof(Entry) == 12, "no padding may enter the hash");
  return XXH3_64bits_withSeed(entries_.data(), entries_.size() * sizeof(Entry),
                              XXH3_64bits(text_.data(), text_.size()));
}

std::string Labels::ToString() const {
  std::string out = "{";
  for (size_t i = 0; i < size(); ++i) {
    const Label label = (*this)[i];
    if (i > 0) out += ", ";
    if (IsValidLabelName(label.name, NameValidation::kLegacy)) {
      out += label.name;
    } else {
      AppendQuoted(&out, label.name);
    }
    out += '=';
    AppendQuoted(&out, label.value);
  }
  out += '}';
  return out;
}

bool Labels::operator==(const Labels& other) const {
  if (text_ != other.text_ || size() != other.size()) return false;
  return std::equal(entries_.begin(), entries_.end(), other.entries_.begin(),
                    [](const Entry& a, const Entry& b) {
                      return a.name_size == b.name_size && a.value_size == b.value_size;
                    });
}

std::strong_ordering Labels::operator<=>(const Labels& other) const {
  const size_t num_common = std::min(size(), other.size());
  for (size_t i = 0; i < num_common; ++i) {
    const Label a = (*this)[i];
    const Label b = other[i];
    if (const auto order = a.name <=> b.name; order != 0) return order;
    if (const auto order = a.value <=> b.value; order != 0) return order;
  }
  return size() <=> other.size();
}

void LabelsBuilder::Reset() { pairs_.clear(); }

void LabelsBuilder::Reset(const Labels& base) {
  pairs_.resize(base.size());
  for (size_t i = 0; i < base.size(); ++i) {
    const Label label = base[i];
    pairs_[i].first.assign(label.name);
    pairs_[i].second.assign(label.value);
  }
}

LabelsBuilder& LabelsBuilder::Set(std::string_view name, std::string_view value) {
  for (auto& [known_name, known_value] : pairs_) {
    if (known_name == name) {
      known_value.assign(value);
      return *this;
    }
  }
  pairs_.emplace_back(name, value);
  return *this;
}

LabelsBuilder& LabelsBuilder::Delete(std::string_view name) {
  std::erase_if(pairs_, [name](const auto& pair) { return pair.first == name; });
  return *this;
}

std::string_view LabelsBuilder::Get(std::string_view name) const {
  for (const auto& [known_name, value] : pairs_) {
    if (known_name == name) return value;
  }
  return "";
}

bool LabelsBuilder::Mentions(std::string_view name) const {
  return std::any_of(pairs_.begin(), pairs_.end(),
                     [name](const auto& pair) { return pair.first == name; });
}

Labels LabelsBuilder::Build() const { return Labels::FromPairs(Current()); }

std::vector<Label> LabelsBuilder::Current() const {
  std::vector<Label> labels;
  labels.reserve(pairs_.size());
  for (const auto& [name, value] : pairs_) {
    if (!value.empty()) labels.push_back({name, value});
  }
  return labels;
}

}  // namespace narthex::model
