#include "remote/series_ref_cache.h"

#include <gtest/gtest.h>

namespace narthex::remote {
namespace {

SeriesHash HashOf(uint64_t i) { return {i * 0x9e3779b97f4a7c15, (i + 1) * 0xbf58476d1ce4e5b9}; }

TEST(SeriesRefCacheTest, FindsWhatWasInsertedUntilItIsErased) {
  SeriesRefCache cache(1024);
  EXPECT_FALSE(cache.Find(HashOf(1)).has_value());
  cache.Insert(HashOf(1), 7);
  EXPECT_EQ(cache.Find(HashOf(1)), 7u);
  cache.Insert(HashOf(1), 8);
  EXPECT_EQ(cache.Find(HashOf(1)), 8u);
  cache.Erase(HashOf(1));
  EXPECT_FALSE(cache.Find(HashOf(1)).has_value());
}

TEST(SeriesRefCacheTest, NeverAnswersWithTheRefOfAnother) {
  SeriesRefCache cache(512);
  size_t num_found = 0;
  for (uint64_t i = 1; i <= 10'000; ++i) cache.Insert(HashOf(i), i);
  for (uint64_t i = 1; i <= 10'000; ++i) {
    const auto ref = cache.Find(HashOf(i));
    if (!ref.has_value()) continue;
    EXPECT_EQ(*ref, i);
    ++num_found;
  }
  EXPECT_LE(num_found, 512u);
  EXPECT_GT(num_found, 256u);
}

TEST(SeriesRefCacheTest, GrowsToHoldNearlyAllSeries) {
  SeriesRefCache cache(1 << 16);
  for (uint64_t round = 0; round < 3; ++round) {
    for (uint64_t i = 1; i <= 20'000; ++i) cache.Insert(HashOf(i), i);
  }
  size_t num_found = 0;
  for (uint64_t i = 1; i <= 20'000; ++i) num_found += cache.Find(HashOf(i)).has_value() ? 1 : 0;
  EXPECT_GT(num_found, 16'000u);
}

TEST(SeriesRefCacheTest, ACacheOfNothingKeepsNothing) {
  SeriesRefCache cache(0);
  cache.Insert(HashOf(1), 7);
  EXPECT_FALSE(cache.Find(HashOf(1)).has_value());
  cache.Erase(HashOf(1));
}

}  // namespace
}  // namespace narthex::remote
