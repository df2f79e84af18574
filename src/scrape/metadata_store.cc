#include "scrape/metadata_store.h"

#include <xxhash.h>

#include <algorithm>
#include <string>
#include <utility>

namespace narthex::scrape {
namespace {

constexpr uint32_t kKeptScrapes = 10;

uint64_t HashOf(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

uint64_t HashOf(const MetricMetadata& metadata) {
  uint64_t hash = HashOf(metadata.family);
  for (const std::string* text : {&metadata.metadata.help, &metadata.metadata.unit}) {
    hash = XXH3_64bits_withSeed(text->data(), text->size(), hash);
  }
  return hash ^ static_cast<uint64_t>(metadata.metadata.type);
}

bool AreEqual(const MetricMetadata& a, const MetricMetadata& b) {
  return a.family == b.family && a.metadata == b.metadata;
}

}  // namespace

MetadataRecord MetadataPool::Intern(MetricMetadata metadata) {
  const uint64_t hash = HashOf(metadata);
  base::MutexLock lock(&mutex_);
  auto [first, last] = records_.equal_range(hash);
  for (; first != last; ++first) {
    MetadataRecord record = first->second.lock();
    if (record != nullptr && AreEqual(*record, metadata)) return record;
  }
  if (records_.size() >= sweep_at_) {
    std::erase_if(records_, [](const auto& item) { return item.second.expired(); });
    sweep_at_ = 2 * records_.size() + 1024;
  }
  auto record = std::make_shared<const MetricMetadata>(std::move(metadata));
  records_.emplace(hash, record);
  return record;
}

void MetadataStore::BeginScrape() {
  base::MutexLock lock(&mutex_);
  ++scrape_;
  newest_row_ = DenseIndex::kNone;
}

uint32_t MetadataStore::RowOf(std::string_view family) {
  const auto is_it = [&](uint32_t row) NX_NO_THREAD_SAFETY_ANALYSIS {
    return rows_[row].record->family == family;
  };
  // Fast path: another line about the same family, or the family that followed it last time.
  const uint32_t guess = newest_row_ == DenseIndex::kNone ? 0 : newest_row_;
  for (uint32_t row = guess; row < rows_.size() && row < guess + 2; ++row) {
    if (is_it(row)) return row;
  }
  uint32_t row = index_.Find(HashOf(family), is_it);
  if (row != DenseIndex::kNone) return row;
  row = static_cast<uint32_t>(rows_.size());
  rows_.push_back({pool_->Intern({std::string(family), {}}), scrape_, scrape_});
  index_.Add(row, [this](uint32_t i)
                      NX_NO_THREAD_SAFETY_ANALYSIS { return HashOf(rows_[i].record->family); });
  return row;
}

// `change` alters a copy of the metadata; it returns false if there is nothing to alter.
template <typename Change>
void MetadataStore::Update(std::string_view family, Change change) {
  base::MutexLock lock(&mutex_);
  newest_row_ = RowOf(family);
  Row& row = rows_[newest_row_];
  row.seen = scrape_;
  if (!change(row.record->metadata, nullptr)) return;
  MetricMetadata changed = *row.record;
  change(row.record->metadata, &changed.metadata);
  row.record = pool_->Intern(std::move(changed));
  row.changed = scrape_;
}

void MetadataStore::SetType(std::string_view family, model::MetricType type) {
  Update(family, [type](const model::Metadata& old, model::Metadata* out) {
    if (out != nullptr) out->type = type;
    return old.type != type;
  });
}

void MetadataStore::SetHelp(std::string_view family, std::string_view help) {
  Update(family, [help](const model::Metadata& old, model::Metadata* out) {
    if (out != nullptr) out->help = help;
    return old.help != help;
  });
}

void MetadataStore::SetUnit(std::string_view family, std::string_view unit) {
  Update(family, [unit](const model::Metadata& old, model::Metadata* out) {
    if (out != nullptr) out->unit = unit;
    return old.unit != unit;
  });
}

void MetadataStore::EndScrape() {
  base::MutexLock lock(&mutex_);
  newest_row_ = DenseIndex::kNone;
  const size_t num_before = rows_.size();
  std::erase_if(rows_, [this](const Row& row) NX_NO_THREAD_SAFETY_ANALYSIS {
    return scrape_ - row.seen > kKeptScrapes;
  });
  if (rows_.size() == num_before) return;
  index_.Rebuild(rows_.size(), [this](uint32_t i) NX_NO_THREAD_SAFETY_ANALYSIS {
    return HashOf(rows_[i].record->family);
  });
}

MetadataRecord MetadataStore::Newest(bool* changed) const {
  base::MutexLock lock(&mutex_);
  if (newest_row_ == DenseIndex::kNone) return nullptr;
  *changed = rows_[newest_row_].changed == scrape_;
  return rows_[newest_row_].record;
}

std::vector<MetricMetadata> MetadataStore::List(std::string_view family) const {
  std::vector<MetricMetadata> list;
  {
    base::MutexLock lock(&mutex_);
    for (const Row& row : rows_) {
      if (family.empty() || row.record->family == family) list.push_back(*row.record);
    }
  }
  std::sort(list.begin(), list.end(),
            [](const MetricMetadata& a, const MetricMetadata& b) { return a.family < b.family; });
  return list;
}

size_t MetadataStore::size() const {
  base::MutexLock lock(&mutex_);
  return rows_.size();
}

size_t MetadataStore::num_text_bytes() const {
  base::MutexLock lock(&mutex_);
  size_t num_bytes = 0;
  for (const Row& row : rows_) {
    const model::Metadata& metadata = row.record->metadata;
    num_bytes +=
        metadata.help.size() + metadata.unit.size() + model::MetricTypeName(metadata.type).size();
  }
  return num_bytes;
}

}  // namespace narthex::scrape
