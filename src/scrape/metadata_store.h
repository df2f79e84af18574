// What one target says about its metrics (HELP, TYPE and UNIT lines). Targets of one kind say the
// same, so a record is kept once for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "narthex/base/mutex.h"
#include "narthex/scrape/manager.h"
#include "scrape/dense_index.h"

namespace narthex::scrape {

using MetadataRecord = std::shared_ptr<const MetricMetadata>;

// Finds equal records. Forgets those no store holds any more. Thread-safe.
class MetadataPool {
 public:
  MetadataRecord Intern(MetricMetadata metadata);

 private:
  base::Mutex mutex_;
  std::unordered_multimap<uint64_t, std::weak_ptr<const MetricMetadata>> records_
      NX_GUARDED_BY(mutex_);
  size_t sweep_at_ NX_GUARDED_BY(mutex_) = 1024;
};

// Thread-safe.
class MetadataStore {
 public:
  // `pool` must outlive this.
  explicit MetadataStore(MetadataPool* pool) : pool_(pool) {}

  void BeginScrape();
  // Each sets one part and leaves the others as they are. True if that changed the record.
  void SetType(std::string_view family, model::MetricType type);
  void SetHelp(std::string_view family, std::string_view help);
  void SetUnit(std::string_view family, std::string_view unit);
  // Forgets families that were not mentioned for ten scrapes.
  void EndScrape();

  // The family mentioned last in this scrape (null: none), and whether this scrape changed it.
  MetadataRecord Newest(bool* changed) const;

  // Sorted by name. An empty `family` means all.
  std::vector<MetricMetadata> List(std::string_view family) const;
  size_t size() const;
  // Bytes of all types, helps and units, as if they were not shared.
  size_t num_text_bytes() const;

 private:
  static constexpr uint32_t kNever = UINT32_MAX;
  struct Row {
    MetadataRecord record;
    uint32_t seen = 0;          // Number of the scrape that mentioned it last.
    uint32_t changed = kNever;  // Number of the scrape that changed it last.
  };
  template <typename Change>
  void Update(std::string_view family, Change change);
  uint32_t RowOf(std::string_view family) NX_REQUIRES(mutex_);

  MetadataPool* const pool_;
  mutable base::Mutex mutex_;
  std::vector<Row> rows_ NX_GUARDED_BY(mutex_);  // In the order of first sight.
  DenseIndex index_ NX_GUARDED_BY(mutex_);
  uint32_t scrape_ NX_GUARDED_BY(mutex_) = 0;
  uint32_t newest_row_ NX_GUARDED_BY(mutex_) = DenseIndex::kNone;
};

}  // namespace narthex::scrape
