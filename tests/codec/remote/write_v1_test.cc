#include "narthex/codec/remote/write_v1.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include "narthex/base/status.h"
#include "tests/codec/remote/write_bytes.h"

namespace narthex::codec {
namespace {

// One of everything.
std::string FullMessage() {
  return SeriesOf({{"__name__", "a"}, {"b", "c"}}, SampleOf(1.5, 10) + SampleOf(-2, 20) +
                                                       ExemplarOf({{"id", "x"}}, 0.5, 9) +
                                                       HistogramOf(30, Varint(14, 3))) +
         SeriesOf({{"__name__", "f"}}, Bytes(4, Double(2, 2.5) + Double(3, 1) + Sint(4, -53) +
                                                    Span(11, 0, 2) + PackedDoubles(13, {0.5, 2}) +
                                                    PackedDoubles(16, {1}) + Varint(15, 40))) +
         Bytes(3, Varint(1, 1) + Bytes(2, "a") + Bytes(4, "help") + Bytes(5, "s"));
}

// Walks the whole message; what it says as text.
std::string TextOf(std::string_view message) {
  std::string text;
  WriteRequestReader reader(message);
  WriteSeries series;
  std::vector<model::Label> labels;
  while (reader.NextSeries(&series)) {
    if (!DecodeWriteLabels(series, &labels).ok()) return text + "bad labels\n";
    for (const model::Label& label : labels)
      base::StrAppend(&text, label.name, "=", label.value, " ");
    for (const WriteSample& s : series.samples)
      base::StrAppend(&text, s.value, "@", s.time_ms, " ");
    for (const model::Exemplar& e : series.exemplars) {
      base::StrAppend(&text, "#", e.labels.ToString(), e.value, "@", e.time_ms, " ");
    }
    for (const WriteHistogram& h : series.histograms) {
      base::StrAppend(&text, h.is_float ? "f" : "i", "@", h.time_ms, " ");
      if (!h.status.ok()) continue;
      const auto add = [&text](const auto& histogram) {
        base::StrAppend(&text, "schema ", histogram.layout->schema, " count ", histogram.count,
                        " sum ", histogram.sum, " hint ", static_cast<int>(histogram.hint), " ");
        for (const auto bucket : histogram.buckets) base::StrAppend(&text, bucket, " ");
        for (const double bound : histogram.layout->custom_bounds) {
          base::StrAppend(&text, "<=", bound, " ");
        }
      };
      h.is_float ? add(h.float_histogram) : add(h.histogram);
    }
    text += "\n";
  }
  WriteMetadata metadata;
  while (reader.NextMetadata(&metadata)) {
    base::StrAppend(&text, metadata.family, " ", model::MetricTypeName(metadata.type), " ",
                    metadata.help, " ", metadata.unit, "\n");
  }
  if (!reader.status().ok()) text += "error\n";
  return text;
}

TEST(WriteV1Test, EveryPartIsDecoded) {
  EXPECT_EQ(TextOf(FullMessage()),
            "__name__=a b=c 1.5@10 -2@20 #{id=\"x\"}0.5@9 i@30 schema 0 count 3 sum 1.5 hint 3 1 "
            "2 \n"
            "__name__=f f@40 schema -53 count 2.5 sum 1 hint 0 0.5 2 <=1 \n"
            "a counter help s\n");
}

TEST(WriteV1Test, PinnedBytes) {
  using std::string_view_literals::operator""sv;
  EXPECT_EQ(TextOf("\x0a\x20\x0a\x0d\x0a\x08__name__\x12\x01x"
                   "\x12\x0f\x09\0\0\0\0\0\0\xf0\x3f\x10\xff\xff\xff\xff\x0f"sv),
            "__name__=x 1@4294967295 \n");
}

TEST(WriteV1Test, LabelsInOnePieceAreNamedByTheirBytes) {
  const std::string together = SeriesOf({{"__name__", "a"}, {"b", "c"}}, SampleOf(1, 10));
  const std::string apart =
      Bytes(1, Pair(1, "__name__", "a") + SampleOf(1, 10) + Pair(1, "b", "c"));
  WriteSeries series;
  ASSERT_TRUE(WriteRequestReader(together).NextSeries(&series));
  EXPECT_EQ(series.labels_bytes, LabelsOf({{"__name__", "a"}, {"b", "c"}}));
  ASSERT_TRUE(WriteRequestReader(apart).NextSeries(&series));
  EXPECT_EQ(series.labels_bytes, "");
  EXPECT_EQ(TextOf(apart), TextOf(together));
}

TEST(WriteV1Test, CountsThatDoNotFitTheSpansAreTold) {
  WriteSeries series;
  const std::string message = SeriesOf({}, HistogramOf(10, Span(8, 0, 1)));
  ASSERT_TRUE(WriteRequestReader(message).NextSeries(&series));
  EXPECT_EQ(base::Message(series.histograms.at(0).status),
            "negative side: spans need 1 buckets, have 0 buckets: histogram spans specify "
            "different number of buckets than provided");
}

TEST(WriteV1Test, AMessageCutAnywhereIsReadOrRefused) {
  const std::string message = FullMessage();
  for (size_t size = 0; size < message.size(); ++size) {
    const std::string text = TextOf(std::string_view(message).substr(0, size));
    EXPECT_NE(text, TextOf(message)) << size;
  }
}

TEST(WriteV1Test, AMessageWithAnyBitFlippedIsReadOrRefused) {
  std::string message = FullMessage();
  for (char& byte : message) {
    for (int bit = 0; bit < 8; ++bit) {
      byte = static_cast<char>(byte ^ (1 << bit));
      TextOf(message);
      byte = static_cast<char>(byte ^ (1 << bit));
    }
  }
}

TEST(SnappyBlockTest, BlocksComeBackWhole) {
  for (const std::string& text : {std::string(), std::string("abc"), std::string(100'000, 'x')}) {
    std::string block;
    snappy::Compress(text.data(), text.size(), &block);
    EXPECT_EQ(*UncompressSnappyBlock(block, 100'000), text);
  }
}

TEST(SnappyBlockTest, TheDeclaredSizeIsLookedAtFirst) {
  std::string block;
  snappy::Compress("abcdef", 6, &block);
  EXPECT_EQ(base::Message(UncompressSnappyBlock(block, 5).status()),
            "decoded size exceeds the 5 bytes limit");
}

TEST(SnappyBlockTest, ACutOrFlippedBlockIsReadOrRefused) {
  std::string block;
  const std::string text = FullMessage() + FullMessage();
  snappy::Compress(text.data(), text.size(), &block);
  for (size_t size = 0; size < block.size(); ++size) {
    EXPECT_EQ(UncompressSnappyBlock(block.substr(0, size), 1 << 20).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  for (char& byte : block) {
    for (int bit = 0; bit < 8; ++bit) {
      byte = static_cast<char>(byte ^ (1 << bit));
      const auto read = UncompressSnappyBlock(block, 1 << 20);
      EXPECT_TRUE(read.ok() || absl::IsInvalidArgument(read.status()) ||
                  absl::IsResourceExhausted(read.status()));
      byte = static_cast<char>(byte ^ (1 << bit));
    }
  }
}

}  // namespace
}  // namespace narthex::codec
