#include "narthex/base/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <vector>

#include "tests/support/manual_clock.h"

namespace narthex::base {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kNsPerMs = 1'000'000;

TEST(TimerThreadTest, TasksRunInTheOrderOfTheirTime) {
  support::ManualClock clock;
  clock.AdvanceMs(100);
  TimerThread timers("timers", &clock);
  std::vector<int> order;
  std::promise<void> done, planned;
  // The first task holds the thread until all others are planned.
  timers.RunAt(0, [&] { planned.get_future().wait(); });
  timers.RunAt(30 * kNsPerMs, [&] { order.push_back(3); });
  timers.RunAt(10 * kNsPerMs, [&] { order.push_back(1); });
  timers.RunAt(20 * kNsPerMs, [&] { order.push_back(2); });
  timers.RunAt(30 * kNsPerMs, [&] { order.push_back(4); });
  timers.RunAt(40 * kNsPerMs, [&] { done.set_value(); });
  planned.set_value();
  done.get_future().wait();
  timers.Stop();
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 4));
}

TEST(TimerThreadTest, ATaskMayPlanAnother) {
  support::ManualClock clock;
  TimerThread timers("timers", &clock);
  std::promise<void> done;
  timers.RunAt(0, [&] { timers.RunAt(0, [&] { done.set_value(); }); });
  done.get_future().wait();
  timers.Stop();
}

TEST(TimerThreadTest, StoppingDropsWhatIsNotDue) {
  support::ManualClock clock;
  TimerThread timers("timers", &clock);
  auto witness = std::make_shared<int>(0);
  timers.RunAt(1000 * kNsPerMs, [witness] { ++*witness; });
  timers.Stop();
  timers.Stop();
  timers.RunAt(0, [witness] { ++*witness; });
  EXPECT_EQ(*witness, 0);
  EXPECT_EQ(witness.use_count(), 1) << "dropped tasks are freed";
}

}  // namespace
}  // namespace narthex::base
