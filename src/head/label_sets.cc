#include "head/label_sets.h"

#include "head/hash.h"
#include "head/varint.h"
#include "narthex/base/check.h"

namespace narthex::head {

using model::Symbol;
using model::SymbolLabel;

namespace {

constexpr size_t kMaxVarint32 = 5;

uint64_t ShapeHash(std::span<const SymbolLabel> labels) {
  uint64_t hash = labels.size();
  for (const SymbolLabel& label : labels) {
    hash = (hash ^ label.name) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

uint64_t LabelSets::Hash(std::span<const SymbolLabel> labels) {
  static_assert(sizeof(SymbolLabel) == 8);
  return HashBytes({reinterpret_cast<const char*>(labels.data()), labels.size_bytes()});
}

uint32_t LabelSets::FindShape(std::span<const SymbolLabel> labels) const {
  if (shape_slots_.empty()) return kNoSeriesIndex;
  const size_t mask = shape_slots_.size() - 1;
  for (size_t slot = ShapeHash(labels) & mask; shape_slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Shape shape = shapes_[shape_slots_[slot] - 1];
    if (shape.size != labels.size()) continue;
    uint32_t i = 0;
    while (i < shape.size && shape_names_[shape.first + i] == labels[i].name) ++i;
    if (i == shape.size) return shape_slots_[slot] - 1;
  }
  return kNoSeriesIndex;
}

uint32_t LabelSets::InternShape(std::span<const SymbolLabel> labels) {
  const uint32_t found = FindShape(labels);
  if (found != kNoSeriesIndex) return found;
  const auto first = static_cast<uint32_t>(shape_names_.Grow(labels.size()));
  for (size_t i = 0; i < labels.size(); ++i) shape_names_[first + i] = labels[i].name;
  const auto shape = static_cast<uint32_t>(shapes_.Grow());
  shapes_[shape] = {.first = first, .size = static_cast<uint32_t>(labels.size())};

  const auto place = [this](uint32_t which, uint64_t hash) {
    const size_t mask = shape_slots_.size() - 1;
    size_t slot = hash & mask;
    while (shape_slots_[slot] != 0) slot = (slot + 1) & mask;
    shape_slots_[slot] = which + 1;
  };
  if (shapes_.size() * 2 <= shape_slots_.size()) {
    place(shape, ShapeHash(labels));
    return shape;
  }
  shape_slots_.assign(shape_slots_.empty() ? 32 : shape_slots_.size() * 2, 0);
  std::vector<SymbolLabel> names;
  for (uint32_t i = 0; i < shapes_.size(); ++i) {
    names.clear();
    for (uint32_t k = 0; k < shapes_[i].size; ++k) {
      names.push_back({shape_names_[shapes_[i].first + k], 0});
    }
    place(i, ShapeHash(names));
  }
  return shape;
}

void LabelSets::Decode(SeriesIndex series, std::vector<SymbolLabel>* out) const {
  const uint8_t* at = At(positions_[series]);
  const Shape shape = shapes_[ReadVarint32(&at)];
  for (uint32_t i = 0; i < shape.size; ++i) {
    const Symbol value = ReadVarint32(&at);
    out->push_back({shape_names_[shape.first + i], value});
  }
}

bool LabelSets::FindValue(SeriesIndex series, Symbol name, Symbol* value) const {
  const uint8_t* at = At(positions_[series]);
  const Shape shape = shapes_[ReadVarint32(&at)];
  for (uint32_t i = 0; i < shape.size; ++i) {
    *value = ReadVarint32(&at);
    if (shape_names_[shape.first + i] == name) return true;
  }
  return false;
}

bool LabelSets::Equals(SeriesIndex series, std::span<const SymbolLabel> labels) const {
  const uint8_t* at = At(positions_[series]);
  const Shape shape = shapes_[ReadVarint32(&at)];
  if (shape.size != labels.size()) return false;
  for (uint32_t i = 0; i < shape.size; ++i) {
    if (shape_names_[shape.first + i] != labels[i].name) return false;
    if (ReadVarint32(&at) != labels[i].value) return false;
  }
  return true;
}

SeriesIndex LabelSets::Find(std::span<const SymbolLabel> labels) const {
  if (slots_.empty()) return kNoSeriesIndex;
  const uint64_t hash = Hash(labels);
  const auto tag = static_cast<uint8_t>(hash);
  for (size_t slot = ScaleHash(hash, slots_.size()); slots_[slot] != kNoSeriesIndex;) {
    if (tags_[slot] == tag && Equals(slots_[slot], labels)) return slots_[slot];
    if (++slot == slots_.size()) slot = 0;
  }
  return kNoSeriesIndex;
}

void LabelSets::Place(SeriesIndex series, uint64_t hash) {
  size_t slot = ScaleHash(hash, slots_.size());
  while (slots_[slot] != kNoSeriesIndex) {
    if (++slot == slots_.size()) slot = 0;
  }
  slots_[slot] = series;
  tags_[slot] = static_cast<uint8_t>(hash);
}

void LabelSets::Rehash(size_t num_slots) {
  slots_ = std::vector<SeriesIndex>(num_slots, kNoSeriesIndex);
  tags_ = std::vector<uint8_t>(num_slots, 0);
  std::vector<SymbolLabel> labels;
  for (SeriesIndex series = 0; series < positions_.size(); ++series) {
    if (positions_[series] == 0) continue;
    labels.clear();
    Decode(series, &labels);
    Place(series, Hash(labels));
  }
}

void LabelSets::Add(SeriesIndex series, std::span<const SymbolLabel> labels) {
  NX_CHECK(!Contains(series));
  // At most 80 % full, and never grown by more than a fifth: what is not used is paid by each
  // series.
  if ((size_t{num_sets_} + 1) * 10 > slots_.size() * 8) {
    Rehash(slots_.size() + slots_.size() / 5 + 64);
  }
  const uint32_t shape = InternShape(labels);
  const size_t need = (labels.size() + 1) * kMaxVarint32;
  const bool alone = need > kPageBytes / 4;
  if (alone || page_used_ + need > kPageBytes) {
    const size_t bytes = alone ? need : kPageBytes;
    owned_.push_back(std::make_unique_for_overwrite<uint8_t[]>(bytes));
    pages_[pages_.Grow()] = owned_.back().get();
    page_bytes_ += bytes + sizeof(owned_[0]);
    page_ = owned_.back().get();
    page_used_ = 0;
  }
  NX_CHECK_LT(pages_.size(), size_t{1} << 17);
  const auto position = static_cast<Position>((pages_.size() - 1) * kPageBytes + page_used_ + 1);
  uint8_t* at = page_ + page_used_;
  WriteVarint32(&at, shape);
  for (const SymbolLabel& label : labels) WriteVarint32(&at, label.value);
  page_used_ = alone ? kPageBytes : static_cast<size_t>(at - page_);

  if (series >= positions_.size()) positions_.Grow(series + 1 - positions_.size());
  positions_[series] = position;
  ++num_sets_;
  Place(series, Hash(labels));
}

uint64_t LabelSets::set_bytes() const {
  return positions_.num_bytes() + pages_.num_bytes() + page_bytes_ + shapes_.num_bytes() +
         shape_names_.num_bytes() + shape_slots_.capacity() * sizeof(uint32_t);
}

}  // namespace narthex::head
