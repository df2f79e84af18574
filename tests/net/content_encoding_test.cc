#include "net/content_encoding.h"

#include <cstdint>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "narthex/base/status.h"

namespace narthex::net {
namespace {

std::string Gzip(std::string_view text) {
  std::string out;
  Compressor compressor(ContentEncoding::kGzip);
  compressor.Append(text, &out);
  compressor.Finish(&out);
  return out;
}

// All of `bytes` in pieces of `piece_bytes`.
absl::StatusOr<std::string> Decode(std::string_view bytes, size_t piece_bytes = 1u << 20,
                                   uint64_t max_bytes = 0) {
  std::string out;
  GzipDecoder decoder;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, piece_bytes);
    bytes.remove_prefix(piece.size());
    NX_RETURN_IF_ERROR(decoder.Append(piece, max_bytes, &out));
  }
  NX_RETURN_IF_ERROR(decoder.Finish());
  return out;
}

std::string MessageOf(std::string_view bytes) {
  return std::string(base::Message(Decode(bytes).status()));
}

TEST(GzipDecoderTest, WhatWasCompressedComesBackInPiecesOfAnySize) {
  std::string text;
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) text += static_cast<char>('a' + random() % 20);
  const std::string bytes = Gzip(text);
  for (const size_t piece_bytes : {1u, 2u, 17u, 4096u, 1u << 20}) {
    EXPECT_EQ(Decode(bytes, piece_bytes).value(), text) << piece_bytes;
  }
  EXPECT_EQ(Decode(Gzip("")).value(), "");
}

TEST(GzipDecoderTest, MembersFollowEachOther) {
  const std::string bytes = Gzip("one ") + Gzip("") + Gzip("two");
  EXPECT_EQ(Decode(bytes).value(), "one two");
  EXPECT_EQ(Decode(bytes, 1).value(), "one two");
}

TEST(GzipDecoderTest, ACutAtAnyByteIsAnError) {
  const std::string bytes = Gzip("metric_a 1\nmetric_b 2\nmetric_c 3\n");
  EXPECT_EQ(MessageOf(""), "EOF");
  for (size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_EQ(MessageOf(std::string_view(bytes).substr(0, size)), "unexpected EOF") << size;
  }
}

TEST(GzipDecoderTest, AFlippedBitIsAnErrorUnlessItMeansNothing) {
  const std::string text = "metric_a 1\nmetric_b 2\nmetric_c 3\n";
  const std::string bytes = Gzip(text);
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ 1 << bit);
      const absl::StatusOr<std::string> decoded = Decode(flipped);
      EXPECT_EQ(decoded.value_or(text), text) << i << " " << bit;
    }
  }
}

TEST(GzipDecoderTest, WhatIsNoGzipIsSaid) {
  EXPECT_EQ(MessageOf("metric 1\n"), "gzip: invalid header");
  EXPECT_EQ(MessageOf(Gzip("a") + "trailing"), "gzip: invalid header");
  std::string bytes = Gzip("metric 1\n");
  bytes[bytes.size() - 8] ^= 1;
  EXPECT_EQ(MessageOf(bytes), "gzip: invalid checksum");
  EXPECT_EQ(Decode(bytes).status().code(), absl::StatusCode::kUnavailable);
}

TEST(GzipDecoderTest, ABombEndsAtTheLimit) {
  const std::string bomb = Gzip(std::string(10u << 20, 'x'));
  std::string out;
  GzipDecoder decoder;
  EXPECT_EQ(decoder.Append(bomb, 1u << 20, &out).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_LT(out.size(), 1u << 20);
  EXPECT_EQ(Decode(Gzip("abc"), 1, 4).value(), "abc");
  EXPECT_EQ(Decode(Gzip("abc"), 1, 3).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace narthex::net
