// Every seed of the exposition fuzz target: whole, cut at every byte, and with every bit flipped.
#include <gtest/gtest.h>

#include "tests/codec/exposition/entry_text.h"
#include "tests/codec/exposition/seeds.h"

namespace narthex::codec {
namespace {

TEST(ExpositionSeedsTest, GoodSeedsAreReadWithoutError) {
  for (const Seed& seed : ExpositionSeeds()) {
    EXPECT_EQ(ReadAll(seed.format, seed.body).find("error"), std::string::npos) << seed.body;
  }
}

TEST(ExpositionSeedsTest, ABodyCutAnywhereIsReadOrRefused) {
  for (const Seed& seed : ExpositionSeeds()) {
    for (size_t size = 0; size < seed.body.size(); ++size) {
      CheckReadable(seed.format, std::string_view(seed.body).substr(0, size));
    }
  }
}

TEST(ExpositionSeedsTest, ABodyWithAnyBitFlippedIsReadOrRefused) {
  for (const Seed& seed : ExpositionSeeds()) {
    std::string body = seed.body;
    for (char& byte : body) {
      for (int bit = 0; bit < 8; ++bit) {
        byte = static_cast<char>(byte ^ (1 << bit));
        CheckReadable(seed.format, body);
        byte = static_cast<char>(byte ^ (1 << bit));
      }
    }
  }
}

}  // namespace
}  // namespace narthex::codec
