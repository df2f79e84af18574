#include "scrape/series_cache.h"

#include <xxhash.h>

#include <algorithm>
#include <iterator>

#include "narthex/base/check.h"

namespace narthex::scrape {
namespace {

// Entries that a scrape did not see go once they are this share of all, and more than a few.
constexpr size_t kMaxUnseenShare = 8;
constexpr size_t kMaxUnseen = 64;

void SortUnique(std::vector<model::SeriesRef>* refs) {
  std::sort(refs->begin(), refs->end());
  refs->erase(std::unique(refs->begin(), refs->end()), refs->end());
}

// What is in `refs` and not in `others`; both are sorted.
std::vector<model::SeriesRef> Minus(const std::vector<model::SeriesRef>& refs,
                                    const std::vector<model::SeriesRef>& others) {
  std::vector<model::SeriesRef> rest;
  std::set_difference(refs.begin(), refs.end(), others.begin(), others.end(),
                      std::back_inserter(rest));
  return rest;
}

}  // namespace

SeriesCache::Key SeriesCache::KeyOf(std::string_view series_key) {
  const XXH128_hash_t hash = XXH3_128bits(series_key.data(), series_key.size());
  return {hash.low64, static_cast<uint32_t>(hash.high64)};
}

void SeriesCache::BeginScrape() {
  scrape_ = (scrape_ + 1) & kScrapeMask;
  next_guess_ = 0;
  num_before_ = static_cast<uint32_t>(entries_.size());
  num_seen_ = 0;
  num_going_on_ = 0;
}

uint32_t SeriesCache::Find(std::string_view series_key) {
  const Key key = KeyOf(series_key);
  // Fast path: the same order as last time.
  if (next_guess_ < entries_.size() && Has(next_guess_, key)) return next_guess_++;
  const uint32_t slot =
      index_.Find(key.hash, [&](uint32_t candidate) { return Has(candidate, key); });
  if (slot != kNone) next_guess_ = slot + 1;
  return slot;
}

uint32_t SeriesCache::Add(std::string_view series_key, model::SeriesRef ref) {
  const Key key = KeyOf(series_key);
  NX_CHECK_LT(entries_.size(), size_t{kNone});
  const auto slot = static_cast<uint32_t>(entries_.size());
  if (entries_.size() == entries_.capacity()) {
    // Grown by an eighth, not doubled: memory counts more than the copy.
    entries_.reserve(entries_.size() + entries_.size() / 8 + 16);
  }
  entries_.push_back({key.hash, ref, key.more_hash, scrape_});
  index_.Add(slot, [this](uint32_t i) { return entries_[i].hash; });
  ++num_seen_;
  return slot;
}

bool SeriesCache::MarkSeen(uint32_t slot) {
  Entry& entry = entries_[slot];
  if (IsSeen(entry)) return false;
  const bool was_alive = WasAliveBefore(entry);
  entry.state = scrape_ | (was_alive ? kTrackedBefore : 0);
  ++num_seen_;
  return true;
}

// Holds for entries this scrape has seen as well as for those it has not.
bool SeriesCache::WasAliveBefore(const Entry& entry) const {
  if (IsSeen(entry)) return (entry.state & kTrackedBefore) != 0;
  const uint32_t last_scrape = (scrape_ - 1) & kScrapeMask;
  return (entry.state & kScrapeMask) == last_scrape && (entry.state & kTrackedNow) != 0;
}

void SeriesCache::Track(uint32_t slot) {
  Entry& entry = entries_[slot];
  NX_DCHECK(IsSeen(entry));
  if ((entry.state & kTrackedNow) != 0) return;
  entry.state |= kTrackedNow;
  if ((entry.state & kTrackedBefore) != 0) ++num_going_on_;
}

std::vector<model::SeriesRef> SeriesCache::Vanished() const {
  // Fast path: everything that was alive is there again.
  if (num_going_on_ == num_alive_ && alive_without_key_.empty()) return {};
  std::vector<model::SeriesRef> before = alive_without_key_;
  std::vector<model::SeriesRef> now;
  for (const Entry& entry : entries_) {
    const bool is_tracked = IsSeen(entry) && (entry.state & kTrackedNow) != 0;
    if (is_tracked) {
      now.push_back(entry.ref);
    } else if (WasAliveBefore(entry)) {
      before.push_back(entry.ref);
    }
  }
  // One series may have come under two keys (formats write it differently): it lives under either.
  SortUnique(&before);
  SortUnique(&now);
  return Minus(before, now);
}

void SeriesCache::EndScrape() {
  alive_without_key_ = {};
  num_alive_ = 0;
  for (const Entry& entry : entries_) {
    if (IsSeen(entry) && (entry.state & kTrackedNow) != 0) ++num_alive_;
  }
  const size_t num_unseen = entries_.size() - num_seen_;
  if (num_unseen > kMaxUnseen && num_unseen > entries_.size() / kMaxUnseenShare) DropUnseen();
}

void SeriesCache::DropUnseen() {
  std::erase_if(entries_, [this](const Entry& entry) { return !IsSeen(entry); });
  entries_.shrink_to_fit();
  index_.Rebuild(entries_.size(), [this](uint32_t i) { return entries_[i].hash; });
}

std::vector<model::SeriesRef> SeriesCache::AbandonScrape() {
  std::vector<model::SeriesRef> alive = std::move(alive_without_key_);
  alive_without_key_ = {};
  if (entries_.size() > num_before_) {
    entries_.resize(num_before_);
    index_.Rebuild(entries_.size(), [this](uint32_t i) { return entries_[i].hash; });
  }
  for (Entry& entry : entries_) {
    if (WasAliveBefore(entry)) alive.push_back(entry.ref);
    entry.state &= kScrapeMask;
  }
  num_alive_ = 0;
  SortUnique(&alive);
  return alive;
}

std::vector<model::SeriesRef> SeriesCache::Alive() const {
  std::vector<model::SeriesRef> alive = alive_without_key_;
  for (const Entry& entry : entries_) {
    if (IsSeen(entry) && (entry.state & kTrackedNow) != 0) alive.push_back(entry.ref);
  }
  SortUnique(&alive);
  return alive;
}

void SeriesCache::ForgetKeys() {
  alive_without_key_ = Alive();
  std::vector<Entry>().swap(entries_);
  index_.Rebuild(0, [](uint32_t) { return uint64_t{0}; });
  num_alive_ = 0;
}

}  // namespace narthex::scrape
