// The head's building blocks against plain containers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "head/arena.h"
#include "head/chain.h"
#include "head/label_sets.h"
#include "head/postings.h"
#include "head/symbol_store.h"
#include "head/times.h"

namespace narthex::head {
namespace {

constexpr uint32_t kSeed = 20240817;

TEST(ArenaTest, BlocksKeepTheirBytesAndAreReused) {
  std::mt19937 random(kSeed);
  Arena arena;
  struct Block {
    size_t size;
    uint8_t fill;
  };
  std::map<Handle, Block> live;
  for (int step = 0; step < 20'000; ++step) {
    if (live.size() < 200 || random() % 2 == 0) {
      const size_t size = random() % 16 == 0 ? 1 + random() % 40'000 : 1 + random() % 600;
      const Handle handle = arena.Allocate(size);
      ASSERT_NE(handle, 0u);
      ASSERT_FALSE(live.contains(handle));
      const auto fill = static_cast<uint8_t>(random());
      std::memset(arena.Bytes(handle), fill, Arena::RoundUp(size));
      live[handle] = {size, fill};
    } else {
      auto it = live.begin();
      std::advance(it, random() % live.size());
      const uint8_t* bytes = arena.Bytes(it->first);
      for (size_t i = 0; i < Arena::RoundUp(it->second.size); ++i) {
        ASSERT_EQ(bytes[i], it->second.fill);
      }
      arena.Free(it->first, it->second.size);
      live.erase(it);
    }
  }
  uint64_t bytes = 0;
  for (const auto& [handle, block] : live) bytes += Arena::RoundUp(block.size);
  EXPECT_EQ(arena.live_bytes(), bytes);
  EXPECT_GE(arena.num_bytes(), arena.live_bytes());
}

TEST(ArenaTest, PagesWithoutBlocksAreGivenBackAndTheirNumbersUsedAgain) {
  std::mt19937 random(kSeed);
  Arena arena;
  struct Block {
    Handle handle;
    size_t size;
  };
  std::vector<Block> stay;
  uint64_t first_round = 0;
  for (uint8_t round = 0; round < 6; ++round) {
    std::vector<Block> go;
    for (int i = 0; i < 20'000; ++i) {
      const size_t size = i % 1000 == 0 ? 20'000 + random() % 30'000 : 1 + random() % 200;
      go.push_back({arena.Allocate(size), size});
      std::memset(arena.Bytes(go.back().handle), 0xcc, Arena::RoundUp(size));
    }
    const size_t size = 1 + random() % 100;
    stay.push_back({arena.Allocate(size), size});
    std::memset(arena.Bytes(stay.back().handle), round, Arena::RoundUp(size));
    if (round == 0) first_round = arena.num_bytes();
    EXPECT_LE(arena.num_bytes(), first_round + first_round / 4);
    std::shuffle(go.begin(), go.end(), random);
    for (const Block& block : go) arena.Free(block.handle, block.size);
    arena.Trim();
    // Of each size class at most the page in use is left.
    EXPECT_LT(arena.num_bytes(), first_round / 3);
  }
  for (size_t i = 0; i < stay.size(); ++i) {
    const uint8_t* const bytes = arena.Bytes(stay[i].handle);
    for (size_t k = 0; k < Arena::RoundUp(stay[i].size); ++k) ASSERT_EQ(bytes[k], i);
  }
}

TEST(ArenaTest, RoundingIsIdempotentAndTight) {
  for (size_t size = 1; size <= 70'000; ++size) {
    const size_t rounded = Arena::RoundUp(size);
    ASSERT_GE(rounded, size);
    ASSERT_EQ(Arena::RoundUp(rounded), rounded) << size;
    if (size > 128 && size <= 4096) {
      ASSERT_LE(rounded, size + size / 8);
    }
  }
}

TEST(ChainTest, GrowsByteByByteAndInPiecesAndGivesAllBack) {
  std::mt19937 random(kSeed);
  Arena arena;
  struct Chain {
    Handle newest = 0;
    std::string twin;
  };
  std::vector<Chain> chains(50);
  for (int step = 0; step < 30'000; ++step) {
    Chain& chain = chains[random() % chains.size()];
    std::string piece(random() % 32 == 0 ? random() % 3000 : random() % 12, '\0');
    for (char& byte : piece) byte = static_cast<char>(random());
    chain.newest = AppendToChain(&arena, chain.newest, chain.twin.size(),
                                 reinterpret_cast<const uint8_t*>(piece.data()), piece.size());
    chain.twin += piece;
    if (!chain.twin.empty()) {
      uint8_t* const last = LastOfChain(&arena, chain.newest, chain.twin.size());
      ASSERT_EQ(static_cast<char>(*last), chain.twin.back());
      *last = static_cast<uint8_t>(~*last);
      chain.twin.back() = static_cast<char>(*last);
    }
    if (random() % 8 != 0) continue;
    std::string read(chain.twin.size(), '\0');
    ReadChain(arena, chain.newest, chain.twin.size(), reinterpret_cast<uint8_t*>(read.data()));
    ASSERT_EQ(read, chain.twin);
    if (random() % 8 != 0) continue;
    FreeChain(&arena, chain.newest, chain.twin.size());
    chain = {};
  }
  for (const Chain& chain : chains) FreeChain(&arena, chain.newest, chain.twin.size());
  EXPECT_EQ(arena.live_bytes(), 0u);
}

TEST(ChainTest, AHerdThatGrowsInStepLeavesNothingBehind) {
  Arena arena;
  std::vector<Handle> herd(2000, 0);
  const uint8_t byte = 7;
  for (size_t size = 0; size < 900; ++size) {
    for (Handle& newest : herd) newest = AppendToChain(&arena, newest, size, &byte, 1);
  }
  EXPECT_LT(arena.live_bytes(), herd.size() * 900 * 5 / 4);
  EXPECT_LT(arena.num_bytes(), arena.live_bytes() + arena.live_bytes() / 20);
}

TEST(SymbolStoreTest, KeepsEveryTextOnce) {
  SymbolStore store;
  std::map<std::string, model::Symbol> twin;
  std::mt19937 random(kSeed);
  for (int step = 0; step < 20'000; ++step) {
    std::string text = "t" + std::to_string(random() % 5000);
    if (step % 97 == 0) text.append(random() % 70'000, 'x');
    if (step % 101 == 0) text = "";
    const model::Symbol symbol = store.Intern(text);
    const auto [entry, added] = twin.emplace(text, symbol);
    ASSERT_EQ(entry->second, symbol);
    if (added) {
      ASSERT_EQ(symbol, twin.size() - 1);
    }
  }
  for (const auto& [text, symbol] : twin) {
    ASSERT_EQ(store.Text(symbol), text);
    ASSERT_EQ(store.Find(text), symbol);
  }
  EXPECT_EQ(store.Find("never seen"), std::nullopt);
  EXPECT_EQ(store.size(), twin.size());
}

TEST(LabelSetsTest, FindsExactlyTheSetsAdded) {
  LabelSets sets;
  std::map<std::vector<std::pair<uint32_t, uint32_t>>, SeriesIndex> twin;
  std::mt19937 random(kSeed);
  for (int step = 0; step < 20'000; ++step) {
    std::vector<model::SymbolLabel> labels;
    std::vector<std::pair<uint32_t, uint32_t>> key;
    for (uint32_t name = 0; name < 8; ++name) {
      if (random() % 2 == 0) continue;
      const auto wide = static_cast<uint32_t>(random());
      labels.push_back({name, wide % 2 == 0 ? wide / 2 % 4 : wide / 2 % 3'000'000});
      key.emplace_back(name, labels.back().value);
    }
    const auto known = twin.find(key);
    ASSERT_EQ(sets.Find(labels), known == twin.end() ? kNoSeriesIndex : known->second);
    if (known == twin.end()) {
      // With holes: numbers 2, 4, 6, ...
      const auto series = static_cast<SeriesIndex>(2 * twin.size() + 2);
      ASSERT_FALSE(sets.Contains(series));
      sets.Add(series, labels);
      ASSERT_TRUE(sets.Contains(series));
      ASSERT_FALSE(sets.Contains(series - 1));
      twin[key] = series;
    }
  }
  for (const auto& [key, series] : twin) {
    std::vector<model::SymbolLabel> labels;
    sets.Decode(series, &labels);
    ASSERT_EQ(labels.size(), key.size());
    for (size_t i = 0; i < key.size(); ++i) {
      ASSERT_EQ(labels[i], (model::SymbolLabel{key[i].first, key[i].second}));
      model::Symbol value = 0;
      ASSERT_TRUE(sets.FindValue(series, key[i].first, &value));
      ASSERT_EQ(value, key[i].second);
    }
    model::Symbol value = 0;
    ASSERT_FALSE(sets.FindValue(series, 99, &value));
  }
  EXPECT_EQ(sets.size(), twin.size());
}

TEST(PostingsTest, ListsEqualPlainSets) {
  Postings postings;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<SeriesIndex>> twin;
  std::mt19937 random(kSeed);
  for (SeriesIndex series = 0; series < 30'000; ++series) {
    // A value of all, of long runs, of every eighth, of a few, of one.
    const uint32_t values[] = {0, series / 500, series % 8, static_cast<uint32_t>(random()) % 3000,
                               series};
    for (uint32_t name = 0; name < 5; ++name) {
      if (name == 3 && random() % 3 == 0) continue;
      postings.Add(name, values[name], series);
      twin[{name, values[name]}].push_back(series);
    }
  }
  EXPECT_EQ(postings.num_pairs(), twin.size());
  for (const auto& [pair, series] : twin) {
    std::vector<SeriesIndex> decoded;
    postings.Decode(pair.first, pair.second, &decoded);
    ASSERT_EQ(decoded, series);
    ASSERT_EQ(postings.Count(pair.first, pair.second), series.size());
  }
  EXPECT_EQ(postings.Count(0, 1), 0u);
  EXPECT_EQ(postings.Count(77, 0), 0u);
  size_t num_values = 0;
  postings.ForEachValue(2, [&](model::Symbol value, uint32_t count) {
    ++num_values;
    EXPECT_EQ(count, (twin[{2, value}].size()));
  });
  EXPECT_EQ(num_values, 8u);
}

TEST(PostingsTest, NumbersMayComeInAnyOrder) {
  Postings postings;
  std::vector<SeriesIndex> numbers(3000);
  for (SeriesIndex i = 0; i < numbers.size(); ++i) numbers[i] = i < 1000 ? i : 5 * i;
  // Runs, in random order.
  std::mt19937 random(kSeed);
  for (int i = 0; i < 20; ++i) {
    std::rotate(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(random() % 3000),
                numbers.end());
    std::shuffle(numbers.begin() + 500, numbers.begin() + 600, random);
  }
  for (const SeriesIndex series : numbers) {
    postings.Add(1, 1, series);
    postings.Add(2, series % 7, series);
  }
  std::vector<SeriesIndex> decoded = {99};
  postings.Decode(1, 1, &decoded);
  EXPECT_EQ(decoded.front(), 99u);
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(std::vector<SeriesIndex>(decoded.begin() + 1, decoded.end()), numbers);
  decoded.clear();
  postings.Decode(2, 3, &decoded);
  std::erase_if(numbers, [](SeriesIndex series) { return series % 7 != 3; });
  EXPECT_EQ(decoded, numbers);
}

class TimesTest : public testing::Test {
 protected:
  static constexpr int64_t kRange = 7'200'000;

  std::vector<int64_t> Decoded(TimesId id) {
    std::vector<int64_t> out;
    times_.Decode(id, &out);
    return out;
  }
  void Begin() {
    ++commit_;
    times_.BeginCommit(commit_, seen_by_all_ == 0 ? commit_ - 1 : seen_by_all_);
  }

  Times times_{kRange, 120};
  CommitNumber commit_ = 0;
  CommitNumber seen_by_all_ = 0;
};

TEST_F(TimesTest, SeriesOfOneCommitShareAColumnUntilOneFallsOutOfStep) {
  std::vector<TimesId> series(100, kNoTimes);
  for (int64_t scrape = 0; scrape < 50; ++scrape) {
    Begin();
    for (TimesId& id : series) {
      id = times_.Append(id, scrape * 15'000 + 7, Times::Extend::kSameChunk);
    }
    times_.EndCommit();
  }
  for (const TimesId id : series) EXPECT_EQ(id, series[0]);
  EXPECT_EQ(times_[series[0]].owners, 100u);

  Begin();
  for (size_t i = 1; i < series.size(); ++i) {
    series[i] = times_.Append(series[i], 50 * 15'000, Times::Extend::kSameChunk);
  }
  times_.EndCommit();
  EXPECT_NE(series[0], series[1]);
  EXPECT_EQ(times_[series[0]].owners, 1u);
  EXPECT_EQ(times_[series[1]].owners, 99u);
  EXPECT_EQ(Decoded(series[0]).size(), 50u);
  EXPECT_EQ(Decoded(series[1]).back(), 50 * 15'000);
}

TEST_F(TimesTest, RandomHistoriesDecodeToThemselves) {
  std::mt19937_64 random(kSeed);
  std::vector<TimesId> ids(40, kNoTimes);
  std::vector<std::vector<int64_t>> twins(40);
  int64_t now = -5'000'000'000;
  for (int step = 0; step < 2'000; ++step) {
    now += 1 + static_cast<int64_t>(random() % 30'000);
    if (step % 500 == 0) now += int64_t{1} << 55;
    Begin();
    for (size_t i = 0; i < ids.size(); ++i) {
      if (random() % 4 == 0) continue;
      const bool cut = twins[i].size() >= 200 || random() % 100 == 0;
      const int samples = random() % 8 == 0 ? 2 : 1;  // Twice in one commit.
      for (int k = 0; k < samples; ++k) {
        const bool fresh = cut && k == 0;
        ids[i] = times_.Append(ids[i], now + k,
                               fresh ? Times::Extend::kNewChunk : Times::Extend::kSameChunk);
        if (fresh) twins[i].clear();
        twins[i].push_back(now + k);
      }
    }
    times_.EndCommit();
    ++now;
    if (step % 50 != 0) continue;
    for (size_t i = 0; i < ids.size(); ++i) ASSERT_EQ(Decoded(ids[i]), twins[i]) << step;
  }
}

TEST_F(TimesTest, AReaderSeesNothingOfLaterCommits) {
  seen_by_all_ = 1;  // A reader that began after the first commit stays open.
  TimesId id = kNoTimes;
  TimesId other = kNoTimes;
  for (int64_t scrape = 0; scrape < 300; ++scrape) {
    Begin();
    const auto extend = scrape % 100 == 99 ? Times::Extend::kNewChunk : Times::Extend::kSameChunk;
    id = times_.Append(id, scrape * 100, extend);
    other = times_.Append(other, scrape * 100, extend);
    times_.EndCommit();
    for (int64_t seen = 1; seen <= scrape + 1; ++seen) {
      const int64_t hidden = times_.HiddenFrom(id, static_cast<CommitNumber>(seen));
      if (seen == scrape + 1) {
        ASSERT_EQ(hidden, std::numeric_limits<int64_t>::max());
      } else {
        ASSERT_EQ(hidden, seen * 100) << "scrape " << scrape;
      }
    }
  }
}

TEST_F(TimesTest, TheRestOfARangeIsSpreadOverEvenChunks) {
  TimesId id = kNoTimes;
  for (int64_t i = 0; i < 30; ++i) {
    Begin();
    id = times_.Append(id, i * 15'000, Times::Extend::kSameChunk);
    times_.EndCommit();
    EXPECT_EQ(times_[id].next_cut_ms, i < 29 ? kRange : kRange / 4);
  }
}

}  // namespace
}  // namespace narthex::head
