// On an almost full device: what succeeds natively succeeds under the shim, and what fails fails with the driver's
// code.
#include <gtest/gtest.h>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class FullDevice : public GuestTest {
 protected:
  [[nodiscard]] Launch with_memory(Launch launch, std::uint64_t bytes) const {
    launch.environment[GetParam().memory_knob] = std::to_string(bytes);
    return launch;
  }
  static std::string answer(Guest& guest, std::uint64_t size) {
    const std::string text = guest.ask("alloc " + std::to_string(size));
    return text.rfind("ok ", 0) == 0 ? "ok" : text;
  }
};
TIDEMARK_FOR_EVERY_GUEST(FullDevice);

TEST_P(FullDevice, StillServesWhatFitsNatively) {
  const auto answers = [&](const Launch& launch) {
    Guest guest{with_memory(launch, 9 * kMiB)};
    std::vector<std::string> all;
    for (const std::uint64_t size : {8 * kMiB, 512 * kKiB, 256 * kKiB, 8 * kMiB}) all.push_back(answer(guest, size));
    return all;
  };

  const std::vector<std::string> under_shim = answers(shimmed_whole());

  EXPECT_EQ(under_shim, answers(native()));
  EXPECT_EQ((std::vector<std::string>{under_shim.begin(), under_shim.begin() + 3}),
            (std::vector<std::string>{"ok", "ok", "ok"}));
  EXPECT_EQ(under_shim.back(), "error 2");
}

TEST_P(FullDevice, GetsTheCacheBackBeforeAnythingFails) {
  Guest guest{with_memory(shimmed_whole(), 16 * kMiB)};
  for (int i = 0; i < 7; ++i) guest.alloc(2 * kMiB);
  for (int i = 0; i < 7; ++i) guest.free(i);
  guest.free(guest.alloc(1000));
  ASSERT_EQ(usage(guest).reserved, 16 * kMiB);

  guest.alloc(15 * kMiB);

  EXPECT_EQ(usage(guest).allocated, 16 * kMiB);
  EXPECT_EQ(stat_of(device(guest), "allocation.all.current"), 1u);
  EXPECT_EQ(device(guest)["stats"]["num_ooms"], 0);
}

TEST_P(FullDevice, BooksAnExactBlockAsPassedThrough) {
  Guest guest{with_memory(shimmed_whole(), 9 * kMiB)};
  guest.alloc(8 * kMiB);

  guest.alloc(512 * kKiB);

  EXPECT_EQ(usage(guest).reserved, 8 * kMiB + 512 * kKiB);
  EXPECT_EQ(device(guest)["cache"]["passed_through"], 1);
  guest.free(1);
  EXPECT_EQ(usage(guest).reserved, 8 * kMiB);
}

TEST_P(FullDevice, SaysWhatWasAskedWhenItFails) {
  Guest guest{with_memory(shimmed_whole(), 9 * kMiB)};
  guest.alloc(4 * kMiB);

  EXPECT_EQ(guest.ask("alloc 8388608"), "error 2");

  const nlohmann::json shown = device(guest);
  EXPECT_EQ(shown["stats"]["num_ooms"], 1);
  EXPECT_EQ(shown["last_oom"]["requested_bytes"], 8 * kMiB);
  EXPECT_EQ(shown["last_oom"]["allocated_bytes"], 4 * kMiB);
  EXPECT_EQ(usage_of(shown), (Usage{4 * kMiB, 4 * kMiB, 4 * kMiB, 4 * kMiB}));
}

TEST_P(FullDevice, SaysOnOneLineWhatStoodInTheWay) {
  Launch launch = with_memory(shimmed_whole(), 9 * kMiB);
  launch.environment["TIDEMARK_LIMIT"] = "8MiB";
  Guest guest{launch};
  guest.alloc(1000);
  guest.alloc(4 * kMiB);

  for (int i = 0; i < 3; ++i) EXPECT_EQ(guest.ask("alloc 3145728"), "error 2");

  // The third time is not said: 1st, 2nd, 4th, 8th.
  const std::string line = "tidemark: " + GetParam().device() +
                           ": out of memory by the limit: 3.000 MiB refused; allocated 4.001 MiB, reserved 6.000 MiB, "
                           "largest free block 1.999 MiB, limit 8.000 MiB, device has 3.000 MiB free of 9.000 MiB\n";
  EXPECT_EQ(guest.finish().err, line + line);
}

TEST_P(FullDevice, SaysThatALimitRefusesEvenTheFirstAllocation) {
  Launch launch = shimmed_whole();
  launch.environment["TIDEMARK_LIMIT"] = "1MiB";
  Guest guest{launch};

  EXPECT_EQ(guest.ask("alloc 3145728"), "error 2");

  EXPECT_NE(guest.finish().err.find("out of memory by the limit: 3.000 MiB refused"), std::string::npos);
}

TEST_P(FullDevice, HasThePathBackToTheDriverWhenOneCallFails) {
  Launch launch = shimmed_whole();
  launch.environment[GetParam().backend == "cuda" ? "CUDA_SIM_FAIL" : "MTIA_SIM_FAIL"] =
      GetParam().backend == "cuda" ? "cuMemAlloc_v2:1" : "mtiaMalloc:1";
  Guest guest{launch};

  guest.alloc(1000);

  EXPECT_EQ(usage(guest).requested, 1000u);
}

}  // namespace
}  // namespace tidemark::test
