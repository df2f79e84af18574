// The small files of a block, names of blocks, and intervals.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "narthex/base/status.h"
#include "narthex/disk/block_meta.h"
#include "narthex/disk/tombstones.h"
#include "narthex/disk/ulid.h"
#include "tests/disk/hex.h"

namespace narthex::disk {
namespace {

using model::TimeRange;

constexpr std::string_view kMeta =
    R"({
	"ulid": "01M8PTSSTABTGHKE74GDG9PKXV",
	"minTime": -5,
	"maxTime": 1796062590000,
	"stats": {
		"numSamples": 7,
		"numFloatSamples": 4,
		"numHistogramSamples": 3,
		"numSeries": 2,
		"numChunks": 3,
		"numTombstones": 1
	},
	"compaction": {
		"level": 2,
		"sources": [
			"01M8PTQ17TKNCSZ9Y6J7EGP27G"
		],
		"deletable": true,
		"parents": [
			{
				"ulid": "00000000000000000000000000",
				"minTime": 0,
				"maxTime": 0
			}
		],
		"failed": true,
		"hints": [
			"from-out-of-order"
		]
	},
	"version": 1
})";

TEST(BlockMetaTest, AllFieldsAreWrittenAsTheyAreRead) {
  const auto meta = ParseBlockMeta(kMeta);
  ASSERT_TRUE(meta.ok()) << meta.status();
  EXPECT_EQ(meta->min_time_ms, -5);
  EXPECT_EQ(meta->stats.num_histogram_samples, 3u);
  EXPECT_TRUE(meta->compaction.HasHint(kHintFromOutOfOrder));
  EXPECT_EQ(meta->compaction.parents[0].ulid, Ulid());
  EXPECT_EQ(FormatBlockMeta(*meta), kMeta);
}

TEST(BlockMetaTest, ABlockThatEndsBeforeItBeginsIsDamaged) {
  for (const char* const json :
       {R"({"version":1,"minTime":2,"maxTime":1})",
        R"({"version":1,"minTime":-9223372036854775808,"maxTime":-9223372036854775808})"}) {
    const absl::Status status = ParseBlockMeta(json).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << json;
    EXPECT_NE(status.message().find("maxTime is before minTime"), std::string::npos) << status;
  }
}

TEST(BlockMetaTest, UnknownFieldsArePassedOverAndMissingOnesAreZero) {
  const auto meta = ParseBlockMeta(R"({"version":1,"thanos":{"labels":{"a":[1,2]}},"stats":null})");
  ASSERT_TRUE(meta.ok()) << meta.status();
  EXPECT_EQ(*meta, BlockMeta());
}

TEST(BlockMetaTest, WrongFieldsAreNamed) {
  const auto fault = [](std::string_view json) {
    const absl::Status status = ParseBlockMeta(json).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    return std::string(base::Message(status));
  };
  EXPECT_EQ(fault(""), "no JSON object");
  EXPECT_EQ(fault("[]"), "no JSON object");
  EXPECT_EQ(fault("{}"), "unexpected meta file version 0");
  EXPECT_EQ(fault(R"({"version":2})"), "unexpected meta file version 2");
  EXPECT_EQ(fault(R"({"version":1,"ulid":"x"})"), "bad value: field=ulid");
  EXPECT_EQ(fault(R"({"version":1,"minTime":1.5})"), "bad value: field=minTime");
  EXPECT_EQ(fault(R"({"version":1,"maxTime":9223372036854775808})"), "bad value: field=maxTime");
  EXPECT_EQ(fault(R"({"version":1,"stats":{"numSeries":-1}})"), "bad value: field=numSeries");
  EXPECT_EQ(fault(R"({"version":1,"compaction":{"sources":[1]}})"), "bad value: field=sources");
}

TEST(BlockMetaTest, ACutOrFlippedByteIsAnErrorOrAValue) {
  for (size_t i = 0; i < kMeta.size(); ++i) {
    EXPECT_FALSE(ParseBlockMeta(kMeta.substr(0, i)).ok());
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped(kMeta);
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      const auto meta = ParseBlockMeta(flipped);
      if (!meta.ok()) {
        EXPECT_EQ(meta.status().code(), absl::StatusCode::kDataLoss);
      }
    }
  }
}

TEST(UlidTest, TextGoesThereAndBack) {
  const Ulid ulid = Ulid::Make(1469918176385, {0, 1, 2, 3, 4, 5, 6, 7, 8, 255});
  EXPECT_EQ(ulid.ToString().substr(0, 10), "01ARYZ6S41");
  EXPECT_EQ(Ulid::Parse(ulid.ToString()), ulid);
  EXPECT_EQ(ulid.time_ms(), 1469918176385);
  EXPECT_EQ(Ulid().ToString(), std::string(26, '0'));
  EXPECT_EQ(Ulid::Parse("7ZZZZZZZZZZZZZZZZZZZZZZZZZ")->ToString(), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
  EXPECT_LT(Ulid::Make(1, {255}), Ulid::Make(2, {0}));
}

TEST(UlidTest, OtherTextsAreNone) {
  EXPECT_FALSE(Ulid::Parse("").has_value());
  EXPECT_FALSE(Ulid::Parse("wal").has_value());
  EXPECT_FALSE(Ulid::Parse("8ZZZZZZZZZZZZZZZZZZZZZZZZZ").has_value());
  EXPECT_FALSE(Ulid::Parse("01M8PTSSTABTGHKE74GDG9PKXU").has_value());
  EXPECT_FALSE(Ulid::Parse("01M8PTSSTABTGHKE74GDG9PKXV.tmp").has_value());
}

std::string Text(const std::vector<TimeRange>& intervals) {
  std::string text;
  for (const TimeRange& one : intervals) {
    base::StrAppend(&text, one.min_time_ms, "-", one.max_time_ms, " ");
  }
  return text;
}

TEST(IntervalsTest, NeighboursBecomeOne) {
  std::vector<TimeRange> intervals;
  AddInterval({10, 20}, &intervals);
  AddInterval({30, 40}, &intervals);
  AddInterval({22, 28}, &intervals);
  EXPECT_EQ(Text(intervals), "10-20 22-28 30-40 ");
  AddInterval({21, 21}, &intervals);
  EXPECT_EQ(Text(intervals), "10-28 30-40 ");
  AddInterval({50, 45}, &intervals);
  EXPECT_EQ(Text(intervals), "10-28 30-40 ");
  EXPECT_TRUE(IsCovered({10, 28}, intervals));
  EXPECT_FALSE(IsCovered({28, 30}, intervals));
  AddInterval({std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()},
              &intervals);
  EXPECT_EQ(intervals.size(), 1u);
}

TEST(IntervalsTest, AnyOrderGivesTheTimesThatWereAdded) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<TimeRange> intervals;
    std::vector<bool> deleted(100, false);
    for (int i = 0; i < 12; ++i) {
      const auto begin = static_cast<int64_t>(random() % 90);
      const int64_t end = begin + static_cast<int64_t>(random() % 10);
      AddInterval({begin, end}, &intervals);
      for (int64_t t = begin; t <= end; ++t) deleted[static_cast<size_t>(t)] = true;
    }
    for (int64_t t = 0; t < 100; ++t) {
      EXPECT_EQ(IsCovered({t, t}, intervals), deleted[static_cast<size_t>(t)]) << "round " << round;
    }
    for (size_t i = 1; i < intervals.size(); ++i) {
      EXPECT_GT(intervals[i].min_time_ms, intervals[i - 1].max_time_ms + 1);
    }
  }
}

// Pins the format: docs/format/tombstones.md explains the bytes.
TEST(TombstonesTest, FilesHaveTheDocumentedBytes) {
  EXPECT_EQ(Hex(FormatTombstones({})), "0130ba300100000000");
  Tombstones tombstones;
  tombstones.Add(300, {15, 30});
  tombstones.Add(3, {-1, 1});
  EXPECT_EQ(Hex(FormatTombstones(tombstones)), "0130ba3001030102ac021e3c6d1b93b2");
}

TEST(TombstonesTest, AFileGoesThereAndBack) {
  Tombstones tombstones;
  tombstones.Add(300, {15, 30});
  tombstones.Add(300, {50, 60});
  tombstones.Add(3, {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()});
  const std::string bytes = FormatTombstones(tombstones);
  EXPECT_EQ(FormatTombstones(ParseTombstones(bytes).value()), bytes);
  EXPECT_EQ(tombstones.num_intervals(), 3u);
}

TEST(TombstonesTest, ACutOrFlippedByteIsAnError) {
  Tombstones tombstones;
  tombstones.Add(300, {15, 30});
  const std::string bytes = FormatTombstones(tombstones);
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(ParseTombstones(bytes.substr(0, i)).status().code(), absl::StatusCode::kDataLoss);
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      EXPECT_EQ(ParseTombstones(flipped).status().code(), absl::StatusCode::kDataLoss);
    }
  }
}

}  // namespace
}  // namespace narthex::disk
