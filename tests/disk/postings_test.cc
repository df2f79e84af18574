#include "narthex/disk/postings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include "narthex/base/bytes.h"

namespace narthex::disk {
namespace {

std::string Encode(const Refs& refs) {
  std::string bytes;
  for (const uint32_t ref : refs) base::AppendU32(&bytes, ref);
  return bytes;
}

Refs RandomRefs(std::mt19937* random, size_t count, uint32_t limit) {
  std::set<uint32_t> refs;
  for (size_t i = 0; i < count; ++i) refs.insert(static_cast<uint32_t>((*random)()) % limit);
  return {refs.begin(), refs.end()};
}

TEST(PostingsTest, SeekFindsTheFirstThatIsNotLess) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const Refs refs = RandomRefs(&random, random() % 200, 1000);
    const std::string bytes = Encode(refs);
    PostingsCursor cursor(bytes);
    auto plain = refs.begin();
    for (uint32_t wanted = 0; wanted < 1100; wanted += static_cast<uint32_t>(random() % 90)) {
      cursor.Seek(wanted);
      plain = std::lower_bound(plain, refs.end(), wanted);
      ASSERT_EQ(cursor.num_left(), static_cast<size_t>(refs.end() - plain));
      if (!cursor.done()) {
        ASSERT_EQ(cursor.ref(), *plain);
      }
    }
  }
}

TEST(PostingsTest, SetsAreCombinedAsPlainOnesAre) {
  std::mt19937 random(2);
  for (int round = 0; round < 500; ++round) {
    const Refs a = RandomRefs(&random, random() % 30, 500);
    const Refs b = RandomRefs(&random, random() % (round % 2 == 0 ? 30 : 400), 500);
    const std::string bytes = Encode(b);
    Refs both, only_a;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only_a));
    Refs result = a;
    Intersect(PostingsCursor(bytes), &result);
    EXPECT_EQ(result, both);
    result = a;
    Intersect(std::span<const uint32_t>(b), &result);
    EXPECT_EQ(result, both);
    result = a;
    Subtract(PostingsCursor(bytes), &result);
    EXPECT_EQ(result, only_a);
    result = a;
    Subtract(std::span<const uint32_t>(b), &result);
    EXPECT_EQ(result, only_a);
    for (const uint64_t limit : {500u, 1000000u}) {
      Refs merged = a;
      AppendRefs(PostingsCursor(bytes), &merged);
      std::set<uint32_t> all(merged.begin(), merged.end());
      MergeLists(limit, &merged);
      EXPECT_EQ(merged, Refs(all.begin(), all.end()));
    }
  }
}

}  // namespace
}  // namespace narthex::disk
