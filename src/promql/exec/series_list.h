// Label sets of many series, packed: what an operator knows of its series before it reads samples.
// Also an index that numbers distinct label sets. Symbols only; texts are looked up where order or
// an error text needs them. Thread-compatible.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "narthex/model/symbols.h"

namespace narthex::promql {

using LabelSpan = std::span<const model::SymbolLabel>;

class SeriesList {
 public:
  size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  // Sorted by the text of names. Valid until the next change of the list.
  LabelSpan labels(size_t index) const {
    const size_t begin = index == 0 ? 0 : ends_[index - 1];
    return LabelSpan(labels_).subspan(begin, ends_[index] - begin);
  }
  // Whether the metadata labels go when the query ends (delayed name removal only).
  bool drop_name(size_t index) const { return !drop_names_.empty() && drop_names_[index]; }

  // `labels` may lie in this list.
  void Add(LabelSpan labels, bool drop_name = false);
  // Lets `fill` append the labels of a new series to the packed storage.
  template <typename Fill>
  void AddWith(const Fill& fill, bool drop_name = false) {
    fill(&labels_);
    Finish(drop_name);
  }
  void Reserve(size_t num_series) { ends_.reserve(num_series); }
  size_t num_bytes() const {
    return labels_.capacity() * sizeof(model::SymbolLabel) + ends_.capacity() * sizeof(uint32_t);
  }

 private:
  void Finish(bool drop_name);

  std::vector<model::SymbolLabel> labels_;
  std::vector<uint32_t> ends_;
  std::vector<bool> drop_names_;  // Empty while all are false.
};

// Numbers distinct label sets 0, 1, 2... in the order they first come.
class LabelSetIndex {
 public:
  struct Inserted {
    uint32_t id;
    bool is_new;
  };
  Inserted Insert(LabelSpan labels);
  std::optional<uint32_t> Find(LabelSpan labels) const;

  size_t size() const { return sets_.size(); }
  LabelSpan labels(uint32_t id) const { return sets_.labels(id); }
  const SeriesList& sets() const { return sets_; }
  SeriesList TakeSets() && { return std::move(sets_); }

 private:
  void Grow();
  size_t Slot(LabelSpan labels, uint64_t hash) const;

  SeriesList sets_;
  std::vector<uint64_t> hashes_;  // Of each set.
  std::vector<uint32_t> slots_;   // Id + 1, 0 is free; a power of two.
};

uint64_t HashLabels(LabelSpan labels);
bool SameLabels(LabelSpan a, LabelSpan b);

// The value of `name`, nullopt if there is none.
std::optional<model::Symbol> FindLabel(LabelSpan labels, model::Symbol name);
// Text of the value of `name`, "" if there is none.
std::string_view LabelText(const model::SymbolTable& symbols, LabelSpan labels,
                           std::optional<model::Symbol> name);

// Prometheus's order of label sets: by text, pair by pair, a prefix is smaller.
int CompareLabels(const model::SymbolTable& symbols, LabelSpan a, LabelSpan b);

// {a="b", c="d"}, the metric name like any label.
std::string LabelsToString(const model::SymbolTable& symbols, LabelSpan labels);

// Sets `name` to `value` in labels sorted by the text of names; deletes it if `value` is nullopt.
void SetLabel(const model::SymbolTable& symbols, model::Symbol name,
              std::optional<model::Symbol> value, std::vector<model::SymbolLabel>* labels);

}  // namespace narthex::promql
