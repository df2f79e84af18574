#include "scrape/series_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace narthex::scrape {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Scrapes `keys`, giving new ones the refs 1, 2, ... by their letter; tracks them all.
void Scrape(SeriesCache* cache, const std::string& keys) {
  cache->BeginScrape();
  for (const char key : keys) {
    const std::string text(1, key);
    uint32_t slot = cache->Find(text);
    if (slot == SeriesCache::kNone) {
      slot = cache->Add(text, static_cast<model::SeriesRef>(key - 'a' + 1));
    } else {
      cache->MarkSeen(slot);
    }
    cache->Track(slot);
  }
}

TEST(SeriesCacheTest, KnowsWhatItSaw) {
  SeriesCache cache;
  Scrape(&cache, "abc");
  cache.EndScrape();
  cache.BeginScrape();
  EXPECT_EQ(cache.Find("x"), SeriesCache::kNone);
  // In another order than before.
  EXPECT_EQ(cache.ref(cache.Find("c")), 3u);
  EXPECT_EQ(cache.ref(cache.Find("a")), 1u);
  EXPECT_EQ(cache.ref(cache.Find("b")), 2u);
  EXPECT_TRUE(cache.MarkSeen(cache.Find("a")));
  EXPECT_FALSE(cache.MarkSeen(cache.Find("a")));
}

TEST(SeriesCacheTest, VanishedSeriesAreThoseNoLongerTracked) {
  SeriesCache cache;
  Scrape(&cache, "abc");
  EXPECT_THAT(cache.Vanished(), IsEmpty());
  cache.EndScrape();
  EXPECT_THAT(cache.Alive(), ElementsAre(1, 2, 3));
  Scrape(&cache, "bd");
  EXPECT_THAT(cache.Vanished(), ElementsAre(1, 3));
  cache.EndScrape();
  EXPECT_THAT(cache.Alive(), ElementsAre(2, 4));
  Scrape(&cache, "bd");
  EXPECT_THAT(cache.Vanished(), IsEmpty()) << "a series vanishes once";
}

TEST(SeriesCacheTest, ASeriesThatIsSeenButNotTrackedVanishes) {
  SeriesCache cache;
  Scrape(&cache, "ab");
  cache.EndScrape();
  Scrape(&cache, "a");
  EXPECT_TRUE(cache.MarkSeen(cache.Find("b")));
  EXPECT_THAT(cache.Vanished(), ElementsAre(2));
}

TEST(SeriesCacheTest, ASeriesThatLivesOnUnderAnotherKeyHasNotVanished) {
  SeriesCache cache;
  Scrape(&cache, "a");
  cache.EndScrape();
  cache.BeginScrape();
  cache.Track(cache.Add("A, written otherwise", 1));
  EXPECT_THAT(cache.Vanished(), IsEmpty());
}

TEST(SeriesCacheTest, AFailedScrapeLeavesNothingBehind) {
  SeriesCache cache;
  Scrape(&cache, "ab");
  cache.EndScrape();
  Scrape(&cache, "bc");
  EXPECT_THAT(cache.AbandonScrape(), ElementsAre(1, 2)) << "all that was alive ends";
  EXPECT_EQ(cache.size(), 2u) << "c was not stored";
  cache.BeginScrape();
  EXPECT_THAT(cache.AbandonScrape(), IsEmpty());
  Scrape(&cache, "ab");
  EXPECT_THAT(cache.Vanished(), IsEmpty());
  cache.EndScrape();
  EXPECT_THAT(cache.Alive(), ElementsAre(1, 2));
}

TEST(SeriesCacheTest, DroppedSeriesAreRemembered) {
  SeriesCache cache;
  cache.BeginScrape();
  cache.Add("d", model::kNoSeries);
  cache.EndScrape();
  cache.BeginScrape();
  EXPECT_TRUE(cache.is_dropped(cache.Find("d")));
  EXPECT_THAT(cache.Alive(), IsEmpty());
}

TEST(SeriesCacheTest, ForgottenKeysLeaveTheirSeriesAliveUntilTheNextScrape) {
  SeriesCache cache;
  Scrape(&cache, "ab");
  cache.EndScrape();
  cache.ForgetKeys();
  EXPECT_THAT(cache.Alive(), ElementsAre(1, 2));
  cache.BeginScrape();
  EXPECT_EQ(cache.Find("a"), SeriesCache::kNone);
  cache.Track(cache.Add("a", 1));
  cache.Track(cache.Add("b", 9));  // Relabelled: another series now.
  EXPECT_THAT(cache.Vanished(), ElementsAre(2));
  cache.EndScrape();
  EXPECT_THAT(cache.Alive(), ElementsAre(1, 9));
  cache.ForgetKeys();
  cache.BeginScrape();
  EXPECT_THAT(cache.AbandonScrape(), ElementsAre(1, 9));
}

TEST(SeriesCacheTest, ChurnDoesNotPileUp) {
  SeriesCache cache;
  for (int scrape = 0; scrape < 100; ++scrape) {
    cache.BeginScrape();
    for (int i = 0; i < 1000; ++i) {
      const std::string key =
          i < 500 ? std::to_string(i) : std::to_string(scrape) + "/" + std::to_string(i);
      uint32_t slot = cache.Find(key);
      if (slot == SeriesCache::kNone) {
        slot = cache.Add(key, 1);
      } else {
        cache.MarkSeen(slot);
      }
      cache.Track(slot);
    }
    cache.EndScrape();
    ASSERT_LE(cache.size(), 1600u);
  }
  cache.BeginScrape();
  for (int i = 0; i < 500; ++i) ASSERT_NE(cache.Find(std::to_string(i)), SeriesCache::kNone) << i;
}

TEST(SeriesCacheTest, ASeriesTakesLittleMemory) {
  SeriesCache cache;
  constexpr int kNumSeries = 100'000;
  cache.BeginScrape();
  for (int i = 0; i < kNumSeries; ++i) {
    cache.Track(cache.Add("http_requests_total{code=\"" + std::to_string(i) + "\"}", 1));
  }
  cache.EndScrape();
  EXPECT_LE(cache.num_bytes() / kNumSeries, 40u);
}

}  // namespace
}  // namespace narthex::scrape
