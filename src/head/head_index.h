// The names of the head's series: texts, label sets, postings. When series are gone, an index
// without them takes the place of the old one, which lives on for the readers that began with it;
// so all memory of what is gone comes back, and nothing is ever removed from an index.
// Locks as SymbolStore: one writer at a time, no reads beside it but of known symbols and series.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "head/label_sets.h"
#include "head/postings.h"
#include "head/symbol_store.h"
#include "narthex/model/labels.h"

namespace narthex::head {

class HeadIndex {
 public:
  // kNoSeriesIndex if no series has exactly these labels.
  SeriesIndex Find(std::span<const model::Label> labels) const;
  // REQUIRES: neither `series` nor the labels are known.
  void Add(SeriesIndex series, std::span<const model::Label> labels);
  bool Contains(SeriesIndex series) const { return label_sets_.Contains(series); }
  // Appends the labels as text; views valid as long as the index.
  void AppendLabelTexts(SeriesIndex series, std::vector<model::Label>* out) const;

  const SymbolStore& symbols() const { return symbols_; }
  const LabelSets& label_sets() const { return label_sets_; }
  const Postings& postings() const { return postings_; }
  uint64_t num_bytes() const {
    return symbols_.num_bytes() + label_sets_.set_bytes() + label_sets_.table_bytes() +
           postings_.num_bytes();
  }

 private:
  SymbolStore symbols_;
  LabelSets label_sets_;
  Postings postings_;
  std::vector<model::SymbolLabel> new_labels_;
};

}  // namespace narthex::head
