#include "narthex/base/bytes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace narthex::base {
namespace {

TEST(BytesTest, FixedIntegersAreBigEndian) {
  std::string bytes;
  AppendU8(&bytes, 0x01);
  AppendU16(&bytes, 0x0203);
  AppendU32(&bytes, 0x04050607);
  AppendU64(&bytes, 0x08090a0b0c0d0e0f);
  EXPECT_EQ(bytes, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f");
  Reader reader(bytes);
  EXPECT_EQ(reader.U8(), 0x01);
  EXPECT_EQ(reader.U16(), 0x0203);
  EXPECT_EQ(reader.U32(), 0x04050607u);
  EXPECT_EQ(reader.U64(), 0x08090a0b0c0d0e0fu);
  EXPECT_TRUE(reader.ok());
  EXPECT_TRUE(reader.empty());
}

// The values and bytes of Go's encoding/binary.
TEST(BytesTest, VarintsHaveGosBytes) {
  std::string bytes;
  AppendUvarint(&bytes, 0);
  AppendUvarint(&bytes, 127);
  AppendUvarint(&bytes, 128);
  AppendUvarint(&bytes, 300);
  EXPECT_EQ(bytes, std::string("\x00\x7f\x80\x01\xac\x02", 6));
  bytes.clear();
  AppendVarint(&bytes, 0);
  AppendVarint(&bytes, -1);
  AppendVarint(&bytes, 1);
  AppendVarint(&bytes, -64);
  AppendVarint(&bytes, 64);
  EXPECT_EQ(bytes, std::string("\x00\x01\x02\x7f\x80\x01", 6));
}

TEST(BytesTest, VarintsRoundTripAtEveryWidth) {
  for (int shift = 0; shift < 64; ++shift) {
    for (int step = -1; step <= 1; ++step) {
      const uint64_t value = (uint64_t{1} << shift) + static_cast<uint64_t>(step);
      std::string bytes;
      AppendUvarint(&bytes, value);
      AppendVarint(&bytes, static_cast<int64_t>(value));
      Reader reader(bytes);
      EXPECT_EQ(reader.Uvarint(), value);
      EXPECT_EQ(reader.Varint(), static_cast<int64_t>(value));
      EXPECT_TRUE(reader.ok() && reader.empty());
    }
  }
}

TEST(BytesTest, AVarintOverSixtyFourBitsFails) {
  const std::string widest = std::string(9, '\xff') + "\x01";
  Reader widest_reader(widest);
  EXPECT_EQ(widest_reader.Uvarint(), std::numeric_limits<uint64_t>::max());
  EXPECT_TRUE(widest_reader.ok());
  for (const std::string& bytes : {std::string(9, '\xff') + "\x02", std::string(11, '\x80')}) {
    Reader reader(bytes);
    EXPECT_EQ(reader.Uvarint(), 0u);
    EXPECT_FALSE(reader.ok());
  }
}

TEST(BytesTest, AReaderThatRanOverGivesZeroesFromThenOn) {
  Reader reader("\x01\x02\x03");
  EXPECT_EQ(reader.U32(), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_TRUE(reader.empty());
  EXPECT_EQ(reader.U8(), 0u);
  EXPECT_EQ(reader.Uvarint(), 0u);
}

TEST(BytesTest, ALengthBeyondTheEndFails) {
  std::string bytes;
  AppendUvarint(&bytes, std::numeric_limits<uint64_t>::max());
  Reader reader(bytes);
  EXPECT_EQ(reader.LengthPrefixed(), "");
  EXPECT_FALSE(reader.ok());
}

TEST(BytesTest, Uvarint32RefusesWiderValues) {
  std::string bytes;
  AppendUvarint(&bytes, uint64_t{1} << 32);
  Reader reader(bytes);
  EXPECT_EQ(reader.Uvarint32(), 0u);
  EXPECT_FALSE(reader.ok());
}

}  // namespace
}  // namespace narthex::base
