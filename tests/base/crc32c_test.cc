#include "narthex/base/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace narthex::base {
namespace {

TEST(Crc32cTest, HasTheStandardsCheckValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);  // RFC 3720, B.4.
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Crc32cTest, BothImplementationsAgreeAtEveryLengthAndSplit) {
  std::mt19937 random(1);
  std::string bytes(100, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const std::string_view all = std::string_view(bytes).substr(0, size);
    const uint32_t whole = Crc32c(all);
    EXPECT_EQ(ExtendCrc32cPortable(0, all), whole);
    const size_t split = size / 3;
    EXPECT_EQ(ExtendCrc32c(Crc32c(all.substr(0, split)), all.substr(split)), whole);
  }
}

}  // namespace
}  // namespace narthex::base
