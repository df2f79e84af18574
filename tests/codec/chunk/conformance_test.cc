// Chunks of blocks that real programs wrote: each is decoded, and writing its samples again must
// give the same bytes.
#include "tests/support/conformance.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <type_traits>

#include "narthex/base/bytes.h"
#include "narthex/base/crc32c.h"
#include "narthex/codec/chunk/float_chunk.h"
#include "narthex/codec/chunk/histogram_chunk.h"
#include "tests/codec/chunk/recorded.h"

namespace narthex::codec {
namespace {

constexpr size_t kSegmentHeaderBytes = 8;

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Older versions left a byte free at the end of some chunks.
void ExpectSameBytes(const std::string& again, std::string_view chunk) {
  if (Hex(again + '\0') == Hex(chunk)) return;
  EXPECT_EQ(Hex(again), Hex(chunk));
}

void ExpectSameFloats(std::string_view chunk) {
  FloatColumns columns;
  ASSERT_TRUE(DecodeFloatChunk(ChunkEncoding::kXor, chunk, &columns).ok());
  std::string again;
  EncodeXorChunk(columns.times_ms, columns.values, &again);
  ExpectSameBytes(again, chunk);
}

// The samples fit the chunk's own layout, so nothing is widened or cut.
template <typename H>
void ExpectSameHistograms(ChunkEncoding encoding, std::string_view chunk) {
  using Columns =
      BasicHistogramColumns<decltype(H::count), typename decltype(H::buckets)::value_type>;
  Columns columns;
  ASSERT_TRUE(DecodeHistogramChunk(encoding, chunk, model::HistogramDetail::kFull, &columns).ok());
  std::string again;
  auto appender = BasicHistogramAppender<H>::Open(&again).value();
  const size_t width = columns.layout->num_buckets();
  for (size_t row = 0; row < columns.times_ms.size(); ++row) {
    H sample;
    if (columns.header == CounterReset::kGauge) sample.hint = model::CounterResetHint::kGauge;
    sample.layout = columns.layout;
    sample.count = columns.counts[row];
    sample.zero_count = columns.zero_counts[row];
    sample.sum = columns.sums[row];
    const auto first = columns.buckets.begin() + static_cast<ptrdiff_t>(row * width);
    sample.buckets.assign(first, first + static_cast<ptrdiff_t>(width));
    ASSERT_EQ(appender.Offer(sample).fit, Fit::kAppend);
    appender.Append(columns.times_ms[row], sample, columns.header);
  }
  ExpectSameBytes(again, chunk);
}

void CheckSegment(const std::filesystem::path& path, size_t* num_floats, size_t* num_histograms) {
  const std::string bytes = Read(path);
  ASSERT_EQ(Hex(bytes.substr(0, 5)), "85bd40dd01");
  base::Reader reader(std::string_view(bytes).substr(kSegmentHeaderBytes));
  while (!reader.empty()) {
    const uint32_t size = reader.Uvarint32();
    const std::string_view covered = reader.Bytes(size + 1);
    const uint32_t crc = reader.U32();
    ASSERT_TRUE(reader.ok());
    ASSERT_EQ(base::Crc32c(covered), crc);
    const auto encoding = ChunkEncodingOf(static_cast<uint8_t>(covered[0]));
    const std::string_view chunk = covered.substr(1);
    ASSERT_TRUE(encoding.has_value());
    if (*encoding == ChunkEncoding::kXor) {
      ++*num_floats;
      ExpectSameFloats(chunk);
    } else if (*encoding == ChunkEncoding::kHistogram) {
      ++*num_histograms;
      ExpectSameHistograms<model::Histogram>(*encoding, chunk);
    } else {
      ++*num_histograms;
      ExpectSameHistograms<model::FloatHistogram>(*encoding, chunk);
    }
  }
}

TEST(ChunkConformanceTest, ChunksOfRealBlocksAreReadAndWrittenTheSame) {
  const std::string root = support::ConformanceDirectory();
  if (root.empty()) GTEST_SKIP() << "NARTHEX_CONFORMANCE_DIR is unset";
  size_t num_floats = 0;
  size_t num_histograms = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root + "/tsdb")) {
    if (entry.path().parent_path().filename() != "chunks") continue;
    SCOPED_TRACE(entry.path());
    CheckSegment(entry.path(), &num_floats, &num_histograms);
  }
  EXPECT_GT(num_floats, 1000u);
  EXPECT_GT(num_histograms, 10u);
  RecordProperty("float_chunks", static_cast<int>(num_floats));
  RecordProperty("histogram_chunks", static_cast<int>(num_histograms));
}

}  // namespace
}  // namespace narthex::codec
