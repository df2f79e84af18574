#include "server/router.h"

#include "gtest/gtest.h"
#include "narthex/base/clock.h"
#include "tests/support/recording_writer.h"

namespace narthex::server {
namespace {

using testing::RecordingWriter;

class RouterTest : public ::testing::Test {
 protected:
  RouterTest() {
    router_.Add({"GET"}, "/api/v1/label/:name/values", Gate::kNeedsReady,
                [](const auto&, const PathValues& values, Writer writer) {
                  writer->Send(200, {}, values.at("name"));
                });
    router_.Add({"POST"}, "/open", Gate::kOpen,
                [](const auto&, const auto&, Writer writer) { writer->Send(200, {}, "posted"); });
    router_.Add({"GET"}, "/files/*path", Gate::kOpen,
                [](const auto&, const PathValues& values, Writer writer) {
                  writer->Send(200, {}, values.at("path"));
                });
  }

  std::shared_ptr<RecordingWriter> Serve(std::string method, std::string path) {
    net::HttpRequest request;
    request.method = std::move(method);
    request.path = std::move(path);
    auto writer = std::make_shared<RecordingWriter>();
    router_.Serve(request, writer);
    EXPECT_TRUE(writer->finished());
    return writer;
  }

  double RequestCount(const std::string& handler, const std::string& code) const {
    for (const auto& family : registry_.Collect()) {
      if (family.name != "prometheus_http_requests_total") continue;
      for (const auto& point : family.points) {
        if (point.labels == std::vector<std::pair<std::string, std::string>>{
                                {"code", code}, {"handler", handler}}) {
          return point.value;
        }
      }
    }
    return -1;
  }

  bool ready_ = true;
  base::Registry registry_{&base::SystemClock()};
  Router router_{&base::SystemClock(), &registry_, [this] { return ready_; }, [] { return false; },
                 [](const net::HttpRequest&) {
                   return net::HeaderList{{"Vary", "Origin"}};
                 }};
};

TEST_F(RouterTest, PartsOfThePathAreValues) {
  EXPECT_EQ(Serve("GET", "/api/v1/label/job/values")->body(), "job");
  EXPECT_EQ(Serve("GET", "/files/a/b.js")->body(), "a/b.js");
}

TEST_F(RouterTest, UnknownPathsAndMethodsAreTold) {
  EXPECT_EQ(Serve("GET", "/api/v1/label//values")->status(), 404);
  EXPECT_EQ(Serve("GET", "/api/v1/label/job/values/more")->status(), 404);
  EXPECT_EQ(Serve("GET", "/open")->status(), 405);
  EXPECT_EQ(Serve("OPTIONS", "/api/v1/anything")->status(), 204);
}

TEST_F(RouterTest, GatedRoutesWaitForReadiness) {
  ready_ = false;
  const auto answer = Serve("GET", "/api/v1/label/job/values");
  EXPECT_EQ(answer->status(), 503);
  EXPECT_EQ(answer->Header("x-prometheus-stopping"), "false");
  EXPECT_EQ(Serve("POST", "/open")->status(), 200);
}

TEST_F(RouterTest, AnswersAreCountedUnderTheirPattern) {
  EXPECT_EQ(RequestCount("/open", "200"), 0);
  Serve("POST", "/open");
  EXPECT_EQ(RequestCount("/open", "200"), 1);
  ready_ = false;
  Serve("GET", "/api/v1/label/job/values");
  EXPECT_EQ(RequestCount("/api/v1/label/:name/values", "503"), 1);
}

TEST_F(RouterTest, ApiAnswersCarryTheirHeaders) {
  EXPECT_EQ(Serve("GET", "/api/v1/label/job/values")->Header("vary"), "Origin");
  EXPECT_EQ(Serve("POST", "/open")->Header("vary"), "");
}

}  // namespace
}  // namespace narthex::server
