// A manager over fakes, run by hand: one target unless told otherwise, scraped every 10 s.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "narthex/base/float_text.h"
#include "narthex/base/log.h"
#include "narthex/base/metrics.h"
#include "narthex/model/stale.h"
#include "narthex/scrape/manager.h"
#include "tests/support/fake_appendable.h"
#include "tests/support/fake_http_client.h"
#include "tests/support/manual_clock.h"
#include "tests/support/manual_scheduler.h"

namespace narthex::scrape {

class ScrapeFixture : public ::testing::Test {
 protected:
  static constexpr int64_t kIntervalMs = 10'000;

  ScrapeFixture() {
    options_.job_name = "j";
    options_.scrape_interval_ms = kIntervalMs;
    options_.scrape_timeout_ms = 5'000;
    options_.static_groups = {{"static", {}, {{{"__address__", "h:1"}}}}};
    http_.SetHandler([this](const net::FetchRequest& request) { return Answer(request); });
  }

  ~ScrapeFixture() override {
    http_.Stop();
    if (manager_ != nullptr) manager_->Stop();
  }

  // Applies `options_` (the manager is made at the first call).
  absl::Status Apply() { return Apply({options_}); }
  absl::Status Apply(std::vector<PoolOptions> pools) {
    if (manager_ == nullptr) {
      manager_ = std::make_unique<Manager>(
          ManagerServices{&clock_, &scheduler_, &http_,
                          [this](std::function<void()> task) {
                            if (executor_is_full_) return false;
                            task();
                            return true;
                          },
                          &storage_, &registry_, &base::NullLogger(), &base::PosixFs()},
          manager_options_);
    }
    return manager_->Apply(std::move(pools), {});
  }

  // One scrape of every target with this body (and type).
  void Scrape(std::string_view body, std::string_view type = "text/plain; version=0.0.4") {
    body_ = body;
    content_type_ = type;
    failure_ = absl::OkStatus();
    status_ = 200;
    scheduler_.AdvanceMs(kIntervalMs);
  }
  void FailScrape(absl::Status failure = absl::UnavailableError("Get \"http://h:1/metrics\": connection refused")) {
    failure_ = std::move(failure);
    scheduler_.AdvanceMs(kIntervalMs);
  }

  // The stored series but the report's, one a line, without the default target labels:
  // `name{a="b"} 1 2 stale`.
  std::string Stored() const { return Text(/*report=*/false); }
  std::string StoredReport() const { return Text(/*report=*/true); }
  // The values of one report series of the only target.
  std::string ReportOf(std::string_view name) const {
    for (const support::AppendedSeries& series : storage_.Committed()) {
      if (series.labels.Get("__name__") == name) return Values(series);
    }
    return "";
  }
  std::string LastError() const { return manager_->ActiveTargets().at(0).last_error; }

  double Metric(std::string_view name) const {
    for (const base::FamilySnapshot& family : registry_.Collect()) {
      if (family.name != name) continue;
      double sum = 0;
      for (const base::MetricPoint& point : family.points) sum += point.value;
      return sum;
    }
    return -1;
  }

  virtual absl::StatusOr<net::FetchResponse> Answer(const net::FetchRequest& /*request*/) {
    if (!failure_.ok()) return failure_;
    return net::FetchResponse{status_, reason_, {{"content-type", content_type_}}, body_};
  }

  static std::string Values(const support::AppendedSeries& series) {
    std::string out;
    for (const support::AppendedSample& sample : series.samples) {
      if (!out.empty()) out += ' ';
      double value = sample.value;
      if (sample.histogram) value = sample.histogram->sum;
      if (sample.float_histogram) value = sample.float_histogram->sum;
      if (model::IsStaleNan(value)) {
        out += "stale";
      } else if (sample.histogram) {
        out += "h" + std::to_string(sample.histogram->count);
      } else if (sample.float_histogram) {
        out += "fh";
      } else {
        base::AppendFloatG(&out, value);
      }
    }
    return out;
  }

  support::ManualClock clock_{1'700'000'000'000};
  support::ManualScheduler scheduler_{&clock_};
  support::FakeHttpClient http_;
  support::FakeAppendable storage_;
  base::Registry registry_{&clock_};
  bool executor_is_full_ = false;
  PoolOptions options_;
  ManagerOptions manager_options_;
  std::unique_ptr<Manager> manager_;

  std::string body_;
  std::string content_type_;
  std::string reason_ = "OK";
  int status_ = 200;
  absl::Status failure_;

 private:
  static bool IsReport(std::string_view name) {
    return name == "up" || name.starts_with("scrape_");
  }

  std::string Text(bool report) const {
    std::string out;
    for (const support::AppendedSeries& series : storage_.Committed()) {
      const std::string_view name = series.labels.Get("__name__");
      if (IsReport(name) != report) continue;
      std::vector<model::Label> labels;
      for (const model::Label& label : series.labels.Views()) {
        const bool is_default = (label.name == "job" && label.value == "j") ||
                                (label.name == "instance" && label.value == "h:1");
        if (label.name != "__name__" && !is_default) labels.push_back(label);
      }
      out += name;
      if (!labels.empty()) out += model::Labels::FromPairs(labels).ToString();
      out += " " + Values(series) + "\n";
    }
    return out;
  }
};

}  // namespace narthex::scrape
