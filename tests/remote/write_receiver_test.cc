#include "narthex/remote/write_receiver.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include "narthex/base/status.h"
#include "tests/codec/remote/write_bytes.h"
#include "tests/support/fake_appendable.h"
#include "tests/support/manual_clock.h"

namespace narthex::remote {
namespace {

using codec::Bytes;
using codec::ExemplarOf;
using codec::HistogramOf;
using codec::SampleOf;
using codec::SeriesOf;

constexpr int64_t kNowMs = 1'000'000;

class WriteReceiverTest : public testing::Test {
 protected:
  // "<status> <text>" of a message that is compressed and sent with the usual headers.
  std::string Send(std::string_view message) {
    std::string body;
    snappy::Compress(message.data(), message.size(), &body);
    WriteRequest request;
    request.content_type = "application/x-protobuf";
    request.content_encoding = "snappy";
    request.body = body;
    return Answer(request);
  }

  std::string Answer(const WriteRequest& request) {
    const WriteReply reply = receiver_.Handle(request);
    return base::StrCat(reply.status, " ", reply.text);
  }

  double Metric(std::string_view name) {
    for (const base::FamilySnapshot& family : registry_.Collect()) {
      if (family.name == name) return family.points.at(0).value;
    }
    return -1;
  }

  support::ManualClock clock_{kNowMs};
  base::Registry registry_{&clock_};
  support::FakeAppendable storage_;
  WriteReceiver receiver_{WriteReceiverOptions(), &storage_, &clock_, &base::NullLogger(),
                          &registry_};
};

TEST_F(WriteReceiverTest, SamplesExemplarsAndHistogramsAreStored) {
  EXPECT_EQ(Send(SeriesOf({{"__name__", "a"}, {"b", "c"}},
                          SampleOf(1, 10) + SampleOf(2, 20) + ExemplarOf({{"id", "x"}}, 0.5, 10)) +
                 SeriesOf({{"__name__", "h"}}, HistogramOf(10))),
            "204 ");
  EXPECT_EQ(storage_.Text(),
            "{__name__=\"a\", b=\"c\"} 1@10 2@20\n"
            "{__name__=\"h\"} h3@10\n");
  EXPECT_EQ(storage_.Committed().at(0).exemplars.size(), 1u);
  EXPECT_EQ(storage_.num_commits(), 1);
}

TEST_F(WriteReceiverTest, LabelsAreSortedAndEmptyOnesDropped) {
  EXPECT_EQ(Send(SeriesOf({{"z", "1"}, {"e", ""}, {"__name__", "a"}}, SampleOf(1, 10))), "204 ");
  EXPECT_EQ(storage_.Text(), "{__name__=\"a\", z=\"1\"} 1@10\n");
}

TEST_F(WriteReceiverTest, SeriesWithInvalidLabelsAreLeftOutAndCounted) {
  EXPECT_EQ(Send(SeriesOf({{"b", "no name"}}, SampleOf(1, 10)) +
                 SeriesOf({{"__name__", ""}}, SampleOf(1, 10)) +
                 SeriesOf({{"__name__", "a"}, {"b", "1"}, {"b", "2"}}, SampleOf(1, 10)) +
                 SeriesOf({{"__name__", "a"}, {"", "1"}}, SampleOf(1, 10)) +
                 SeriesOf({{"__name__", "a"}, {"b", "\xff"}}, SampleOf(1, 10)) +
                 SeriesOf({{"__name__", "good"}}, SampleOf(1, 10))),
            "204 ");
  EXPECT_EQ(storage_.Text(), "{__name__=\"good\"} 1@10\n");
  EXPECT_EQ(Metric("prometheus_api_remote_write_invalid_labels_samples_total"), 5);
}

TEST_F(WriteReceiverTest, TheFirstBadSampleRollsTheRequestBack) {
  EXPECT_EQ(Send(SeriesOf({{"__name__", "a"}}, SampleOf(1, 10))), "204 ");
  EXPECT_EQ(Send(SeriesOf({{"__name__", "b"}}, SampleOf(1, 10)) +
                 SeriesOf({{"__name__", "a"}}, SampleOf(1, 5))),
            "400 out of order sample");
  EXPECT_EQ(Send(SeriesOf({{"__name__", "a"}}, SampleOf(2, 10))).substr(0, 4), "400 ");
  EXPECT_EQ(Send(SeriesOf({{"__name__", "a"}}, SampleOf(1, 10))), "204 ");
  storage_.SetMinTimeMs(100);
  EXPECT_EQ(Send(SeriesOf({{"__name__", "a"}}, SampleOf(1, 50))), "400 out of bounds");
  EXPECT_EQ(storage_.Text(), "{__name__=\"a\"} 1@10\n");
}

TEST_F(WriteReceiverTest, SamplesFarAheadAreRefused) {
  EXPECT_EQ(Send(SeriesOf({{"__name__", "a"}}, SampleOf(1, kNowMs + 600'000))), "204 ");
  EXPECT_EQ(Send(SeriesOf({{"__name__", "a"}}, SampleOf(1, kNowMs + 600'001))),
            "400 out of bounds: timestamp is too far in the future");
  EXPECT_EQ(Send(SeriesOf({{"__name__", "h"}}, HistogramOf(kNowMs + 600'001))),
            "400 out of bounds: timestamp is too far in the future");
  EXPECT_EQ(storage_.num_commits(), 1);
}

TEST_F(WriteReceiverTest, InvalidHistogramsAreRefusedWithTheReason) {
  EXPECT_EQ(Send(SeriesOf({{"__name__", "h"}}, HistogramOf(10, codec::Span(11, 0, 1)))),
            "400 positive side: spans need 3 buckets, have 2 buckets: histogram spans specify "
            "different number of buckets than provided");
  const std::string reply =
      Send(SeriesOf({{"__name__", "h"}}, HistogramOf(10, codec::Varint(1, 9))));
  EXPECT_NE(reply.find("400 "), std::string::npos);
  EXPECT_NE(reply.find("observations"), std::string::npos) << reply;
  EXPECT_EQ(storage_.Text(), "");
}

TEST_F(WriteReceiverTest, FineSchemasAreReduced) {
  EXPECT_EQ(Send(SeriesOf({{"__name__", "h"}}, HistogramOf(10, codec::Sint(4, 10)))), "204 ");
  EXPECT_EQ(storage_.Committed().at(0).samples.at(0).histogram->layout->schema, 8);
}

TEST_F(WriteReceiverTest, KnownSeriesAreNotResolvedAgain) {
  const std::string message = SeriesOf({{"__name__", "a"}}, SampleOf(1, 10));
  EXPECT_EQ(Send(message), "204 ");
  EXPECT_EQ(Send(message), "204 ");
  EXPECT_EQ(storage_.num_resolves(), 1);
}

TEST_F(WriteReceiverTest, SeriesThatStorageDroppedAreResolvedAgain) {
  EXPECT_EQ(Send(SeriesOf({{"__name__", "a"}}, SampleOf(1, 10)) +
                 SeriesOf({{"__name__", "h"}}, HistogramOf(10))),
            "204 ");
  storage_.ForgetRefs();
  EXPECT_EQ(Send(SeriesOf({{"__name__", "a"}}, SampleOf(2, 20) + SampleOf(3, 30)) +
                 SeriesOf({{"__name__", "h"}}, HistogramOf(20))),
            "204 ");
  EXPECT_EQ(storage_.Text(), "{__name__=\"a\"} 1@10 2@20 3@30\n{__name__=\"h\"} h3@10 h3@20\n");
}

TEST_F(WriteReceiverTest, StorageErrorsMayBeTriedAgain) {
  storage_.SetCommitStatus(base::ResourceExhausted("no space left"));
  EXPECT_EQ(Send(SeriesOf({{"__name__", "a"}}, SampleOf(1, 10))), "500 no space left");
  storage_.SetNewSeriesStatus(base::ResourceExhausted("too many series"));
  EXPECT_EQ(Send(SeriesOf({{"__name__", "b"}}, SampleOf(1, 10))), "500 too many series");
  EXPECT_EQ(storage_.Text(), "");
}

TEST_F(WriteReceiverTest, ExemplarsNeverFailARequest) {
  storage_.SetExemplarStatus(base::InvalidArgument("out of order exemplar"));
  EXPECT_EQ(Send(SeriesOf({{"__name__", "a"}}, SampleOf(1, 10) + ExemplarOf({}, 1, 10))), "204 ");
}

TEST_F(WriteReceiverTest, ManySamplesOfARequestKeepTheirOrder) {
  std::string samples;
  for (int i = 1; i <= 5000; ++i) samples += SampleOf(i, i);
  EXPECT_EQ(Send(SeriesOf({{"__name__", "a"}}, samples)), "204 ");
  EXPECT_EQ(storage_.Committed().at(0).samples.size(), 5000u);
}

TEST_F(WriteReceiverTest, HeadersAreCheckedWithPrometheussWords) {
  const auto answer = [this](std::string_view type, std::string_view encoding,
                             std::string_view method = "POST") {
    WriteRequest request;
    request.method = method;
    request.content_type = type;
    request.content_encoding = encoding;
    request.body = std::string_view("\0", 1);  // An empty block.
    return Answer(request);
  };
  EXPECT_EQ(answer("", ""), "204 ");
  EXPECT_EQ(answer("application/x-protobuf;proto=prometheus.WriteRequest", "snappy"), "204 ");
  EXPECT_EQ(answer(" application/x-protobuf;a=b ", "snappy"), "204 ");
  EXPECT_EQ(answer("", "", "GET"), "405 Method not allowed");
  EXPECT_EQ(answer("", "gzip"),
            "415 gzip encoding (compression) is not accepted by this server; only snappy is "
            "acceptable");
  EXPECT_EQ(answer("text/plain", "snappy"),
            "415 expected application/x-protobuf as the first (media) part, got text/plain "
            "content-type");
  EXPECT_EQ(answer("application/x-protobuf;proto", ""),
            "415 as per https://www.rfc-editor.org/rfc/rfc9110#parameter expected parameters to be "
            "key-values, got proto in application/x-protobuf;proto content-type");
  EXPECT_EQ(answer("application/x-protobuf;proto=x.Y", ""),
            "415 got application/x-protobuf;proto=x.Y content type; unknown type for remote write "
            "protobuf message x.Y, supported: prometheus.WriteRequest, "
            "io.prometheus.write.v2.Request");
  EXPECT_EQ(answer("application/x-protobuf;proto=io.prometheus.write.v2.Request", ""),
            "415 io.prometheus.write.v2.Request protobuf message is not accepted by this server; "
            "only accepts prometheus.WriteRequest");
}

TEST_F(WriteReceiverTest, BrokenBodiesAreRefused) {
  WriteRequest request;
  request.body = "\xff\xff\xff\xff\xff\xff";
  EXPECT_EQ(Answer(request), "400 snappy: corrupt input");
  request.body = "\x80\x80\x80\x11 ";
  EXPECT_EQ(Answer(request), "400 decoded size exceeds the 33554432 bytes limit");
  request.body = "\x80\x80\x80\x08 ";
  EXPECT_EQ(Answer(request), "400 snappy: corrupt input");
  EXPECT_EQ(Send(Bytes(1, "\x0a\x7f")).substr(0, 10), "400 proto:");
  EXPECT_EQ(storage_.num_commits(), 0);
}

}  // namespace
}  // namespace narthex::remote
