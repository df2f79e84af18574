// Queries that nobody means: cut, damaged, or nested without end. None may crash the parser.
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "narthex/base/status.h"
#include "promql/parse/parser.h"
#include "tests/promql/parse/seeds.h"

namespace narthex::promql {
namespace {

constexpr ParseOptions kEverything = {true, true, true};
constexpr size_t kManyLevels = 100'000;

std::string Repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(ParseHostileTest, SeedsAreGood) {
  for (const std::string_view seed : QuerySeeds()) {
    const auto parsed = ParseExpression(seed, kEverything);
    EXPECT_TRUE(parsed.ok()) << seed << ": " << base::Message(parsed.status());
    CheckParser(seed);
  }
}

TEST(ParseHostileTest, AQueryCutAnywhereIsReadOrRefused) {
  for (const std::string_view seed : QuerySeeds()) {
    for (size_t size = 0; size < seed.size(); ++size) CheckParser(seed.substr(0, size));
  }
}

TEST(ParseHostileTest, AQueryWithAnyBitFlippedIsReadOrRefused) {
  for (const std::string_view seed : QuerySeeds()) {
    std::string query(seed);
    for (char& byte : query) {
      for (int bit = 0; bit < 8; ++bit) {
        byte = static_cast<char>(byte ^ (1 << bit));
        CheckParser(query);
        byte = static_cast<char>(byte ^ (1 << bit));
      }
    }
  }
}

TEST(ParseHostileTest, EndlessNestingIsRefused) {
  const std::string queries[] = {
      Repeated("(", kManyLevels) + "a" + Repeated(")", kManyLevels),
      Repeated("-", kManyLevels) + "a",
      Repeated("abs(", kManyLevels) + "a" + Repeated(")", kManyLevels),
      Repeated("sum(", kManyLevels) + "a" + Repeated(")", kManyLevels),
      "a" + Repeated(" + a", kManyLevels),
      "a" + Repeated(" ^ a", kManyLevels),
      "rate(a" + Repeated("[5m:1m]", kManyLevels) + ")",
      "a offset " + Repeated("-", kManyLevels) + "5m",
      "a[" + Repeated("(", kManyLevels) + "5m" + Repeated(")", kManyLevels) + "]",
      "a[5m" + Repeated(" + 5m", kManyLevels) + "]",
  };
  for (const std::string& query : queries) {
    const auto parsed = ParseExpression(query, kEverything);
    ASSERT_FALSE(parsed.ok()) << query.substr(0, 20);
    EXPECT_NE(base::Message(parsed.status()).find("nested more than 1000 levels deep"),
              std::string_view::npos)
        << query.substr(0, 20) << ": " << base::Message(parsed.status());
  }
}

TEST(ParseHostileTest, DeepButBoundedNestingIsFine) {
  EXPECT_TRUE(ParseExpression(Repeated("(", 900) + "a" + Repeated(")", 900), kEverything).ok());
  EXPECT_TRUE(ParseExpression("a" + Repeated(" or a", 900), kEverything).ok());
}

}  // namespace
}  // namespace narthex::promql
