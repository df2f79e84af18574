// The reader of remote write messages against classes generated from the protocol's definition:
// random messages written by those must be read as what went in.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "narthex/codec/remote/write_v1.h"
#include "remote_write_v1.pb.h"

namespace narthex::codec {
namespace {

class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}
  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  // Small ones mostly, all bits now and then.
  uint64_t Wide() { return Below(4) == 0 ? random_() : Below(1000); }
  double Number() { return std::bit_cast<double>(random_()); }
  std::string Text() {
    std::string text;
    for (uint32_t i = Below(20); i > 0; --i) text.push_back(static_cast<char>(Below(256)));
    // Protobuf strings are UTF-8.
    for (char& c : text) c = static_cast<char>(c & 0x7f);
    return text;
  }

 private:
  std::mt19937_64 random_;
};

void FillLabels(Dice* dice, google::protobuf::RepeatedPtrField<prometheus::Label>* labels) {
  for (uint32_t i = dice->Below(5); i > 0; --i) {
    prometheus::Label* const label = labels->Add();
    label->set_name(dice->Text());
    label->set_value(dice->Text());
  }
}

void FillHistogram(Dice* dice, prometheus::Histogram* out) {
  const bool is_float = dice->Below(2) == 0;
  const auto side = [&](auto* spans, auto* deltas, auto* counts) {
    for (uint32_t s = dice->Below(4); s > 0; --s) {
      prometheus::BucketSpan* const span = spans->Add();
      span->set_offset(static_cast<int32_t>(dice->Below(9)) - 4);
      span->set_length(dice->Below(4));
      for (uint32_t i = 0; i < span->length(); ++i) {
        if (is_float) {
          counts->Add(dice->Number());
        } else {
          deltas->Add(static_cast<int64_t>(dice->Below(2000)) - 1000);
        }
      }
    }
  };
  if (is_float) {
    out->set_count_float(dice->Number());
    out->set_zero_count_float(dice->Number());
  } else {
    out->set_count_int(dice->Wide());
    out->set_zero_count_int(dice->Wide());
  }
  out->set_sum(dice->Number());
  out->set_schema(dice->Below(3) == 0 ? -53 : static_cast<int32_t>(dice->Below(13)) - 4);
  out->set_zero_threshold(dice->Below(2));
  side(out->mutable_negative_spans(), out->mutable_negative_deltas(),
       out->mutable_negative_counts());
  side(out->mutable_positive_spans(), out->mutable_positive_deltas(),
       out->mutable_positive_counts());
  out->set_reset_hint(static_cast<prometheus::Histogram::ResetHint>(dice->Below(4)));
  out->set_timestamp(static_cast<int64_t>(dice->Wide()));
  if (out->schema() == -53) {
    for (uint32_t i = dice->Below(4); i > 0; --i) out->add_custom_values(dice->Number());
  }
}

prometheus::WriteRequest RandomRequest(Dice* dice) {
  prometheus::WriteRequest request;
  for (uint32_t i = dice->Below(4); i > 0; --i) {
    prometheus::TimeSeries* const series = request.add_timeseries();
    FillLabels(dice, series->mutable_labels());
    for (uint32_t k = dice->Below(4); k > 0; --k) {
      prometheus::Sample* const sample = series->add_samples();
      sample->set_value(dice->Number());
      sample->set_timestamp(static_cast<int64_t>(dice->Wide()));
    }
    for (uint32_t k = dice->Below(3); k > 0; --k) FillHistogram(dice, series->add_histograms());
  }
  for (uint32_t i = dice->Below(3); i > 0; --i) {
    prometheus::MetricMetadata* const metadata = request.add_metadata();
    metadata->set_type(static_cast<prometheus::MetricMetadata::MetricType>(dice->Below(8)));
    metadata->set_metric_family_name(dice->Text());
    metadata->set_help(dice->Text());
    metadata->set_unit(dice->Text());
  }
  return request;
}

uint64_t Bits(double value) { return std::bit_cast<uint64_t>(value); }

void ExpectSpans(const std::vector<model::BucketSpan>& read,
                 const google::protobuf::RepeatedPtrField<prometheus::BucketSpan>& written) {
  ASSERT_EQ(read.size(), static_cast<size_t>(written.size()));
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].offset, written[static_cast<int>(i)].offset());
    EXPECT_EQ(read[i].length, written[static_cast<int>(i)].length());
  }
}

// What both kinds of histogram share.
template <typename H>
void ExpectShape(const H& read, const prometheus::Histogram& written) {
  EXPECT_EQ(static_cast<int>(read.hint), written.reset_hint());
  EXPECT_EQ(Bits(read.sum), Bits(written.sum()));
  EXPECT_EQ(read.layout->schema, written.schema());
  EXPECT_EQ(read.layout->zero_threshold, written.zero_threshold());
  ExpectSpans(read.layout->positive_spans, written.positive_spans());
  ExpectSpans(read.layout->negative_spans, written.negative_spans());
  ASSERT_EQ(read.layout->custom_bounds.size(), static_cast<size_t>(written.custom_values_size()));
  for (size_t i = 0; i < read.layout->custom_bounds.size(); ++i) {
    EXPECT_EQ(Bits(read.layout->custom_bounds[i]),
              Bits(written.custom_values(static_cast<int>(i))));
  }
}

void ExpectHistogram(const WriteHistogram& read, const prometheus::Histogram& written) {
  ASSERT_TRUE(read.status.ok()) << read.status;
  EXPECT_EQ(read.time_ms, written.timestamp());
  ASSERT_EQ(read.is_float, written.has_count_float());
  if (read.is_float) {
    const model::FloatHistogram& histogram = read.float_histogram;
    ExpectShape(histogram, written);
    EXPECT_EQ(Bits(histogram.count), Bits(written.count_float()));
    EXPECT_EQ(Bits(histogram.zero_count), Bits(written.zero_count_float()));
    std::vector<uint64_t> buckets;
    for (const double count : written.positive_counts()) buckets.push_back(Bits(count));
    for (const double count : written.negative_counts()) buckets.push_back(Bits(count));
    ASSERT_EQ(histogram.buckets.size(), buckets.size());
    for (size_t i = 0; i < buckets.size(); ++i) EXPECT_EQ(Bits(histogram.buckets[i]), buckets[i]);
    return;
  }
  const model::Histogram& histogram = read.histogram;
  ExpectShape(histogram, written);
  EXPECT_EQ(histogram.count, written.count_int());
  EXPECT_EQ(histogram.zero_count, written.zero_count_int());
  std::vector<int64_t> buckets;
  int64_t count = 0;
  for (const int64_t delta : written.positive_deltas()) buckets.push_back(count += delta);
  count = 0;
  for (const int64_t delta : written.negative_deltas()) buckets.push_back(count += delta);
  EXPECT_EQ(histogram.buckets, buckets);
}

void ExpectSeries(const WriteSeries& read, const prometheus::TimeSeries& written) {
  std::vector<model::Label> labels;
  ASSERT_TRUE(DecodeWriteLabels(read, &labels).ok());
  ASSERT_EQ(labels.size(), static_cast<size_t>(written.labels_size()));
  for (int i = 0; i < written.labels_size(); ++i) {
    EXPECT_EQ(labels[static_cast<size_t>(i)].name, written.labels(i).name());
    EXPECT_EQ(labels[static_cast<size_t>(i)].value, written.labels(i).value());
  }
  ASSERT_EQ(read.samples.size(), static_cast<size_t>(written.samples_size()));
  for (int i = 0; i < written.samples_size(); ++i) {
    EXPECT_EQ(Bits(read.samples[static_cast<size_t>(i)].value), Bits(written.samples(i).value()));
    EXPECT_EQ(read.samples[static_cast<size_t>(i)].time_ms, written.samples(i).timestamp());
  }
  ASSERT_EQ(read.histograms.size(), static_cast<size_t>(written.histograms_size()));
  for (int i = 0; i < written.histograms_size(); ++i) {
    ExpectHistogram(read.histograms[static_cast<size_t>(i)], written.histograms(i));
  }
}

TEST(WriteV1TwinTest, WhatGeneratedCodeWritesIsReadTheSame) {
  for (uint32_t seed = 1; seed <= 500; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const prometheus::WriteRequest request = RandomRequest(&dice);
    const std::string bytes = request.SerializeAsString();
    WriteRequestReader reader(bytes);
    WriteSeries series;
    for (const prometheus::TimeSeries& written : request.timeseries()) {
      ASSERT_TRUE(reader.NextSeries(&series)) << reader.status();
      ExpectSeries(series, written);
    }
    EXPECT_FALSE(reader.NextSeries(&series));
    WriteMetadata metadata;
    for (const prometheus::MetricMetadata& written : request.metadata()) {
      ASSERT_TRUE(reader.NextMetadata(&metadata)) << reader.status();
      EXPECT_EQ(static_cast<int>(metadata.type), written.type());
      EXPECT_EQ(metadata.family, written.metric_family_name());
      EXPECT_EQ(metadata.help, written.help());
      EXPECT_EQ(metadata.unit, written.unit());
    }
    EXPECT_FALSE(reader.NextMetadata(&metadata));
    EXPECT_TRUE(reader.status().ok()) << reader.status();
  }
}

}  // namespace
}  // namespace narthex::codec
