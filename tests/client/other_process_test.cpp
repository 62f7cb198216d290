// tidemark.h about another process: which one is meant, what it says, what becomes of requests. The processes are fakes
// with fixed numbers: 100 MiB in use of 400 reserved, the peak 300.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/include/tidemark/tidemark.h"
#include "tests/viewer/fake_world.hpp"

namespace tidemark::test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

struct Close {
  void operator()(tidemark_process* process) const { tidemark_close(process); }
};
using Opened = std::unique_ptr<tidemark_process, Close>;

class OtherProcessTest : public testing::Test {
 protected:
  OtherProcessTest() { setenv("TIDEMARK_DIR", world_.directory().c_str(), 1); }
  ~OtherProcessTest() override { unsetenv("TIDEMARK_DIR"); }

  static Opened opened(const std::string& target) {
    tidemark_process* process = nullptr;
    EXPECT_EQ(tidemark_open(target.c_str(), &process), TIDEMARK_OK) << tidemark_error_detail();
    return Opened{process};
  }
  static int open_code(const std::string& target) {
    tidemark_process* process = nullptr;
    const int code = tidemark_open(target.c_str(), &process);
    EXPECT_EQ(process == nullptr, code != TIDEMARK_OK);
    tidemark_close(process);
    return code;
  }

  const ShimWorld world_;
};

TEST_F(OtherProcessTest, IsFoundByPidIdAndLabel) {
  const FakeProcess fake{world_, {"label=train"}};

  for (const std::string& target : {fake.pid(), fake.id(), std::string{"train"}}) {
    const Opened process = opened(target);
    EXPECT_EQ(std::string{tidemark_process_id(process.get())}, fake.id());
    EXPECT_EQ(std::to_string(tidemark_process_pid(process.get())), fake.pid());
    EXPECT_STREQ(tidemark_process_label(process.get()), "train");
    EXPECT_STREQ(tidemark_process_state(process.get()), "live");
  }
}

TEST_F(OtherProcessTest, HasNoNumbersWhereNothingOrSeveralAreMeant) {
  const FakeProcess first{world_, {"label=rank"}};
  const FakeProcess second{world_, {"label=rank"}};

  EXPECT_EQ(open_code("nobody"), TIDEMARK_ERROR_NO_SUCH_PROCESS);
  EXPECT_STREQ(tidemark_error_detail(),
               "no process 'nobody' (a pid, an id or a label) publishes counters; 'tidemark ps' lists those that do");
  EXPECT_EQ(open_code("0"), TIDEMARK_ERROR_NO_SUCH_PROCESS);
  EXPECT_EQ(open_code(""), TIDEMARK_ERROR_NO_SUCH_PROCESS);
  EXPECT_EQ(open_code("rank"), TIDEMARK_ERROR_AMBIGUOUS);
  const std::string detail = tidemark_error_detail();
  EXPECT_NE(detail.find(first.id()), std::string::npos) << detail;
  EXPECT_NE(detail.find(second.id()), std::string::npos) << detail;
  EXPECT_EQ(tidemark_open(nullptr, nullptr), TIDEMARK_ERROR_INVALID_ARGUMENT);
  tidemark_process* none = nullptr;
  EXPECT_EQ(tidemark_open(nullptr, &none), TIDEMARK_ERROR_INVALID_ARGUMENT);
}

TEST_F(OtherProcessTest, ALivingOneWinsOverDeadOnes) {
  FakeProcess dead{world_, {"label=train"}};
  dead.kill();
  const FakeProcess alive{world_, {"label=train"}};

  EXPECT_EQ(std::string{tidemark_process_id(opened("train").get())}, alive.id());
  EXPECT_EQ(std::string{tidemark_process_id(opened(dead.id()).get())}, dead.id());
}

TEST_F(OtherProcessTest, HasTheNumbersOfEachOfItsDevices) {
  const FakeProcess fake{world_};
  const Opened process = opened(fake.pid());

  EXPECT_EQ(tidemark_process_device_count(process.get()), 2);
  EXPECT_STREQ(tidemark_process_device(process.get(), 0), "cuda:0");
  EXPECT_STREQ(tidemark_process_device(process.get(), 1), "mtia:0");
  EXPECT_EQ(tidemark_process_device(process.get(), 2), nullptr);
  EXPECT_EQ(tidemark_process_device(process.get(), -1), nullptr);
  for (const char* device : {static_cast<const char*>(nullptr), "cuda", "cuda:0", "mtia", "mtia:0", "0"}) {
    SCOPED_TRACE(device == nullptr ? "NULL" : device);
    EXPECT_EQ(tidemark_memory_allocated(process.get(), device), 100 * kMiB);
    EXPECT_EQ(tidemark_max_memory_allocated(process.get(), device), 300 * kMiB);
    EXPECT_EQ(tidemark_memory_reserved(process.get(), device), 400 * kMiB);
    EXPECT_EQ(tidemark_max_memory_reserved(process.get(), device), 400 * kMiB);
    EXPECT_EQ(tidemark_memory_stat(process.get(), device, "num_device_alloc"), 2);
    EXPECT_EQ(tidemark_memory_stat(process.get(), device, "held.current_bytes"), 400 * kMiB);
    tidemark_device_stats stats{};
    stats.size = sizeof stats;
    EXPECT_EQ(tidemark_memory_stats(process.get(), device, &stats), TIDEMARK_OK);
    EXPECT_EQ(stats.requested_bytes.large_pool.current, 100 * kMiB - 1);
    EXPECT_EQ(stats.capacity_bytes, 1024 * kMiB);
  }
  for (const char* device : {"cuda:1", "mtia:5", "1"}) {
    EXPECT_EQ(tidemark_memory_allocated(process.get(), device), TIDEMARK_ERROR_NO_SUCH_DEVICE) << device;
  }
  EXPECT_STREQ(tidemark_error_detail(), "the process has no such device; it has cuda:0, mtia:0");
  std::uint64_t free = 7;
  EXPECT_EQ(tidemark_get_memory_info(process.get(), nullptr, &free, nullptr), TIDEMARK_ERROR_UNKNOWN);
  EXPECT_EQ(free, 7U) << "what isn't known is no number";
}

TEST_F(OtherProcessTest, WritesNoMoreThanTheCallersStructureHolds) {
  const FakeProcess fake{world_};
  const Opened process = opened(fake.pid());
  tidemark_device_stats stats{};
  stats.size = offsetof(tidemark_device_stats, requested_bytes);  // of an older header
  stats.requested_bytes.all.current = 42;

  EXPECT_EQ(tidemark_memory_stats(process.get(), nullptr, &stats), TIDEMARK_OK);

  EXPECT_EQ(stats.allocated_bytes.all.current, 100 * kMiB);
  EXPECT_EQ(stats.requested_bytes.all.current, 42);
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, sizeof stats - 1}) {
    stats.size = size;
    EXPECT_EQ(tidemark_memory_stats(process.get(), nullptr, &stats), TIDEMARK_ERROR_INVALID_ARGUMENT) << size;
  }
  EXPECT_EQ(tidemark_memory_stats(process.get(), nullptr, nullptr), TIDEMARK_ERROR_INVALID_ARGUMENT);
}

TEST_F(OtherProcessTest, DoesWhatItIsAsked) {
  const FakeProcess fake{world_};
  const Opened process = opened(fake.pid());

  EXPECT_EQ(tidemark_reset_peak_memory_stats(process.get(), "cuda:0"), TIDEMARK_OK);
  EXPECT_EQ(tidemark_max_memory_allocated(process.get(), "cuda:0"), 100 * kMiB);
  EXPECT_EQ(tidemark_max_memory_allocated(process.get(), "mtia:0"), 300 * kMiB) << "the other is as it was";
  EXPECT_EQ(tidemark_reset_peak_memory_stats(process.get(), "all"), TIDEMARK_OK);
  EXPECT_EQ(tidemark_max_memory_allocated(process.get(), "mtia:0"), 100 * kMiB);
  EXPECT_EQ(tidemark_reset_accumulated_memory_stats(process.get(), nullptr), TIDEMARK_OK);
  EXPECT_EQ(tidemark_memory_stat(process.get(), nullptr, "allocation.all.allocated"), 0);
  EXPECT_EQ(tidemark_empty_cache(process.get(), nullptr), TIDEMARK_OK);
  EXPECT_EQ(tidemark_memory_reserved(process.get(), nullptr), 100 * kMiB);
  EXPECT_EQ(tidemark_set_memory_limit(process.get(), nullptr, 77), TIDEMARK_OK);
  EXPECT_EQ(tidemark_memory_limit(process.get(), nullptr), 77);
  EXPECT_EQ(tidemark_set_memory_limit(process.get(), nullptr, 0), TIDEMARK_OK);
  EXPECT_EQ(tidemark_memory_limit(process.get(), nullptr), 0);
  EXPECT_EQ(tidemark_reset_peak_memory_stats(process.get(), "mtia:3"), TIDEMARK_ERROR_NO_SUCH_DEVICE);
}

TEST_F(OtherProcessTest, MayRefuse) {
  const FakeProcess deaf{world_, {"label=deaf", "policy=off"}};
  const FakeProcess peaks{world_, {"label=peaks", "policy=peaks"}};

  EXPECT_EQ(tidemark_reset_peak_memory_stats(opened("deaf").get(), nullptr), TIDEMARK_ERROR_PERMISSION);
  EXPECT_STREQ(tidemark_error_detail(), "the process takes no requests (TIDEMARK_CONTROL=off)");
  const Opened process = opened("peaks");
  EXPECT_EQ(tidemark_reset_peak_memory_stats(process.get(), nullptr), TIDEMARK_OK);
  EXPECT_EQ(tidemark_empty_cache(process.get(), nullptr), TIDEMARK_ERROR_PERMISSION);
}

TEST_F(OtherProcessTest, MayHaveLostItsControlFile) {
  const FakeProcess fake{world_};
  const Opened process = opened(fake.pid());
  std::filesystem::remove(fake.path() + ".ctl");

  EXPECT_EQ(tidemark_reset_peak_memory_stats(process.get(), nullptr), TIDEMARK_ERROR_UNSUPPORTED);
  EXPECT_EQ(tidemark_memory_allocated(process.get(), nullptr), 100 * kMiB) << "it can still be read";
}

// One row per function: what it says of a process that has ended since it was opened, and of one that was dead before.
TEST_F(OtherProcessTest, IsGoneOnceItHasEnded) {
  FakeProcess fake{world_};
  const Opened process = opened(fake.pid());
  EXPECT_EQ(tidemark_memory_allocated(process.get(), nullptr), 100 * kMiB);
  fake.kill();

  EXPECT_STREQ(tidemark_process_state(process.get()), "killed");
  EXPECT_EQ(tidemark_process_pid(process.get()), 0);
  tidemark_device_stats stats{};
  stats.size = sizeof stats;
  EXPECT_EQ(tidemark_memory_stats(process.get(), nullptr, &stats), TIDEMARK_ERROR_GONE);
  EXPECT_EQ(stats.allocated_bytes.all.current, 0);
  EXPECT_EQ(tidemark_memory_stat(process.get(), nullptr, "num_ooms"), TIDEMARK_ERROR_GONE);
  EXPECT_EQ(tidemark_memory_allocated(process.get(), nullptr), TIDEMARK_ERROR_GONE);
  EXPECT_EQ(tidemark_max_memory_reserved(process.get(), nullptr), TIDEMARK_ERROR_GONE);
  EXPECT_EQ(tidemark_memory_limit(process.get(), nullptr), TIDEMARK_ERROR_GONE);
  EXPECT_EQ(tidemark_get_memory_info(process.get(), nullptr, nullptr, nullptr), TIDEMARK_ERROR_GONE);
  for (const char* device : {static_cast<const char*>(nullptr), "all"}) {
    EXPECT_EQ(tidemark_reset_peak_memory_stats(process.get(), device), TIDEMARK_ERROR_GONE);
    EXPECT_EQ(tidemark_reset_accumulated_memory_stats(process.get(), device), TIDEMARK_ERROR_GONE);
    EXPECT_EQ(tidemark_empty_cache(process.get(), device), TIDEMARK_ERROR_GONE);
    EXPECT_EQ(tidemark_set_memory_limit(process.get(), device, 1), TIDEMARK_ERROR_GONE);
  }
  EXPECT_EQ(tidemark_record_memory_history(process.get(), "all", nullptr, 0), TIDEMARK_ERROR_GONE);
  EXPECT_EQ(tidemark_record_memory_history(process.get(), nullptr, nullptr, 0), TIDEMARK_ERROR_GONE);
  EXPECT_EQ(tidemark_export_memory_history(process.get(), (world_.directory() + "/a.tmsnap").c_str()),
            TIDEMARK_ERROR_GONE);
  EXPECT_EQ(tidemark_process_device_count(process.get()), TIDEMARK_ERROR_GONE);

  const Opened left = opened(fake.id());
  EXPECT_EQ(tidemark_memory_allocated(left.get(), nullptr), 100 * kMiB) << "as it was left";
  EXPECT_EQ(tidemark_reset_peak_memory_stats(left.get(), nullptr), TIDEMARK_ERROR_GONE);
}

TEST_F(OtherProcessTest, CanBeAskedByManyThreadsAtOnce) {
  const FakeProcess fake{world_};
  const Opened process = opened(fake.pid());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 25; ++round) {
        const bool is_right = i == 0 ? tidemark_reset_accumulated_memory_stats(process.get(), "all") == TIDEMARK_OK
                                     : tidemark_memory_allocated(process.get(), "mtia:0") == 100 * kMiB &&
                                           tidemark_process_device(process.get(), 1) != nullptr;
        wrong += is_right ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }

  EXPECT_EQ(wrong, 0);
}

TEST(Errors, HaveATextEach) {
  std::vector<std::string> texts;
  for (int code = TIDEMARK_ERROR_INVALID_ARGUMENT; code >= TIDEMARK_ERROR_SYSTEM; --code) {
    texts.emplace_back(tidemark_error(code));
    EXPECT_NE(texts.back(), "unknown error") << code;
  }
  std::sort(texts.begin(), texts.end());

  EXPECT_EQ(std::unique(texts.begin(), texts.end()), texts.end()) << "no two share one";
  EXPECT_STREQ(tidemark_error(0), "success");
  EXPECT_STREQ(tidemark_error(8'388'608), "success");
  EXPECT_STREQ(tidemark_error(-1), "unknown error");
}

}  // namespace
}  // namespace tidemark::test
