// A whole pool over real sockets: one good target among bad ones. Time is moved by hand; only the
// fetches take real time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "narthex/base/mutex.h"
#include "narthex/base/thread_pool.h"
#include "narthex/net/http_server.h"
#include "narthex/scrape/manager.h"
#include "tests/support/fake_appendable.h"
#include "tests/support/manual_clock.h"
#include "tests/support/manual_scheduler.h"

namespace narthex::scrape {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kIntervalMs = 10'000;

class LoopbackTest : public ::testing::Test {
 protected:
  LoopbackTest() {
    server_ = net::HttpServer::Listen({.listen_addresses = {"127.0.0.1:0"}}, &server_pool_,
                                      &base::NullLogger())
                  .value();
    server_->Serve(
        [this](const net::HttpRequest& request, std::shared_ptr<net::ResponseWriter> writer) {
          Answer(request, std::move(writer));
        });
    manager_ = std::make_unique<Manager>(
        ManagerServices{&clock_, &scheduler_, http_.get(),
                        [this](std::function<void()> task) {
                          return pool_.TrySubmit([this, task = std::move(task)] {
                            task();
                            base::MutexLock lock(&mutex_);
                            ++num_done_;
                            changed_.NotifyAll();
                          });
                        },
                        &storage_, &registry_, &base::NullLogger(), &base::PosixFs()},
        ManagerOptions());
  }

  ~LoopbackTest() override {
    http_->Stop();
    manager_->Stop();
    {
      base::MutexLock lock(&mutex_);
      hanging_.clear();
    }
    server_->Stop(/*grace_ms=*/0);
    pool_.Stop();
    server_pool_.Stop();
  }

  void Answer(const net::HttpRequest& request, std::shared_ptr<net::ResponseWriter> writer) {
    const std::string type = "text/plain; version=0.0.4";
    if (request.path == "/good") {
      user_agent_ = net::FindHeader(request.headers, "User-Agent");
      writer->Send(200, {{"Content-Type", type}}, std::string(2000, '#') + "\na 1\nb{x=\"y\"} 2\n");
    } else if (request.path == "/hangs") {
      base::MutexLock lock(&mutex_);
      hanging_.push_back(std::move(writer));
    } else if (request.path == "/rubbish") {
      writer->Send(200, {{"Content-Type", type}}, "\x01\x02 <html>");
    } else if (request.path == "/half") {
      writer->Send(200,
                   {{"Content-Type",
                     "application/vnd.google.protobuf;"
                     "proto=io.prometheus.client.MetricFamily;encoding=delimited"}},
                   std::string("\x64\x0a\x01h", 4));
    } else if (request.path == "/big") {
      writer->Send(200, {{"Content-Type", type}}, std::string(4 << 20, '#'));
    } else if (request.path == "/wrong") {
      writer->Send(200, {{"Content-Type", "image/png"}}, "a 1\n");
    } else {
      writer->Send(404, {}, "");
    }
  }

  void Apply(const std::vector<std::string>& paths) {
    PoolOptions options;
    options.job_name = "j";
    options.scrape_interval_ms = kIntervalMs;
    options.scrape_timeout_ms = 300;
    options.body_size_limit = 1 << 20;
    options.http.proxy_from_environment = false;
    TargetGroup group{"static", {}, {}};
    const std::string address = "127.0.0.1:" + std::to_string(server_->ports().at(0));
    for (const std::string& path : paths) {
      group.targets.push_back(
          {{"__address__", address}, {"__metrics_path__", path}, {"instance", path}});
    }
    options.static_groups = {group};
    ASSERT_TRUE(manager_->Apply({options}, {}).ok());
    num_targets_ = paths.size();
  }

  // Lets every target be scraped once more and waits for the last.
  void ScrapeAll() {
    size_t num_wanted;
    {
      base::MutexLock lock(&mutex_);
      num_wanted = num_done_ + num_targets_;
    }
    scheduler_.AdvanceMs(kIntervalMs);
    base::MutexLock lock(&mutex_);
    while (num_done_ < num_wanted) changed_.Wait(&mutex_);
  }

  std::map<std::string, std::string> Errors() const {
    std::map<std::string, std::string> errors;
    for (const ActiveTarget& target : manager_->ActiveTargets()) {
      errors[std::string(target.labels.Get("instance"))] = target.last_error;
    }
    return errors;
  }

  support::ManualClock clock_{1'700'000'000'000};
  support::ManualScheduler scheduler_{&clock_};
  base::Registry registry_{&clock_};
  support::FakeAppendable storage_;
  base::ThreadPool server_pool_{"server", 2, 64};
  base::ThreadPool pool_{"scrape", 1, 64};  // One thread, as the storage is not for more.
  std::unique_ptr<net::HttpClient> http_ = net::HttpClient::Create();
  std::unique_ptr<net::HttpServer> server_;
  std::unique_ptr<Manager> manager_;

  base::Mutex mutex_;
  base::CondVar changed_;
  size_t num_done_ = 0;
  size_t num_targets_ = 0;
  std::string user_agent_;
  std::vector<std::shared_ptr<net::ResponseWriter>> hanging_;
};

TEST_F(LoopbackTest, BadTargetsAreDownAndTheGoodOneIsScraped) {
  Apply({"/good", "/hangs", "/rubbish", "/half", "/big", "/wrong", "/missing"});
  ScrapeAll();
  ScrapeAll();
  const std::map<std::string, std::string> errors = Errors();
  EXPECT_EQ(errors.at("/good"), "");
  EXPECT_THAT(errors.at("/hangs"), HasSubstr("/hangs\": context deadline exceeded"));
  EXPECT_NE(errors.at("/rubbish"), "");
  EXPECT_NE(errors.at("/half"), "");
  EXPECT_EQ(errors.at("/big"), "body size limit exceeded");
  EXPECT_THAT(errors.at("/wrong"), HasSubstr("unsupported Content-Type \"image/png\""));
  EXPECT_EQ(errors.at("/missing"), "server returned HTTP status 404 Not Found");
  EXPECT_EQ(user_agent_, "Prometheus/3.14.0");
  for (const support::AppendedSeries& series : storage_.Committed()) {
    const std::string_view instance = series.labels.Get("instance");
    ASSERT_EQ(series.samples.size(), 2u) << series.labels.ToString();
    if (series.labels.Get("__name__") != "up") continue;
    EXPECT_EQ(series.samples[1].value, instance == "/good" ? 1 : 0) << instance;
  }
  EXPECT_THAT(storage_.Text(),
              HasSubstr("{__name__=\"b\", instance=\"/good\", job=\"j\", x=\"y\"}"));
}

}  // namespace
}  // namespace narthex::scrape
