#include "narthex/base/thread_pool.h"

#include <pthread.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace narthex::base {
namespace {

TEST(ThreadPoolTest, RunsEveryAcceptedTaskOnce) {
  ThreadPool pool("test", 4, 100'000);
  std::atomic<int> num_runs = 0;
  std::atomic<int> num_accepted = 0;
  std::vector<std::thread> submitters;
  for (int i = 0; i < 4; ++i) {
    submitters.emplace_back([&] {
      for (int j = 0; j < 1000; ++j) num_accepted += pool.TrySubmit([&] { ++num_runs; }) ? 1 : 0;
    });
  }
  for (std::thread& submitter : submitters) submitter.join();
  pool.Stop();
  EXPECT_EQ(num_accepted, 4000);
  EXPECT_EQ(num_runs, 4000);
}

TEST(ThreadPoolTest, AFullQueueRefuses) {
  ThreadPool pool("test", 1, 2);
  std::promise<void> started;
  std::promise<void> gate;
  ASSERT_TRUE(pool.TrySubmit([&] {
    started.set_value();
    gate.get_future().wait();
  }));
  started.get_future().wait();
  EXPECT_TRUE(pool.TrySubmit([] {}));
  EXPECT_TRUE(pool.TrySubmit([] {}));
  EXPECT_EQ(pool.num_queued(), 2u);
  EXPECT_FALSE(pool.TrySubmit([] {}));
  gate.set_value();
  pool.Stop();
  EXPECT_EQ(pool.num_queued(), 0u);
}

TEST(ThreadPoolTest, StopRunsWhatIsQueuedAndRefusesTheRest) {
  ThreadPool pool("test", 1, 10);
  std::atomic<int> num_runs = 0;
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(pool.TrySubmit([&] { ++num_runs; }));
  pool.Stop();
  EXPECT_EQ(num_runs, 5);
  EXPECT_FALSE(pool.TrySubmit([&] { ++num_runs; }));
  pool.Stop();
  EXPECT_EQ(num_runs, 5);
}

TEST(ThreadPoolTest, EveryStopReturnsOnlyOnceTheThreadsHaveEnded) {
  ThreadPool pool("test", 2, 10);
  std::atomic<bool> has_run = false;
  ASSERT_TRUE(pool.TrySubmit([&] {
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    has_run = true;
  }));
  std::thread other([&] {
    pool.Stop();
    EXPECT_TRUE(has_run);
  });
  pool.Stop();
  EXPECT_TRUE(has_run);
  other.join();
}

TEST(ThreadPoolTest, TasksMaySubmitTasks) {
  ThreadPool pool("test", 1, 10);
  std::promise<void> done;
  ASSERT_TRUE(pool.TrySubmit([&] { EXPECT_TRUE(pool.TrySubmit([&] { done.set_value(); })); }));
  done.get_future().wait();
  pool.Stop();
}

TEST(ThreadPoolTest, ThreadsCarryTheFirstFifteenBytesOfTheName) {
  ThreadPool pool("a name that is too long", 1, 1);
  std::promise<std::string> name;
  ASSERT_TRUE(pool.TrySubmit([&] {
    char buffer[32] = {};
    // The constructor may still be about to set it.
    while (std::string(buffer) != "a name that is ") {
      pthread_getname_np(pthread_self(), buffer, sizeof buffer);
    }
    name.set_value(buffer);
  }));
  EXPECT_EQ(name.get_future().get(), "a name that is ");
  pool.Stop();
}

}  // namespace
}  // namespace narthex::base
