#include "viewer/model/memory_events.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::viewer {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

// One process with one device, whose numbers a test sets.
struct World {
  View view;

  World() { add("9f3c01aa", 4711); }

  void add(const std::string& id, std::uint64_t pid) {
    segment::ProcessSnapshot process;
    process.identity.id = id;
    process.identity.pid = static_cast<std::int64_t>(pid);
    process.state = segment::ProcessState::Live;
    view.processes.push_back(
        {.snapshot = process, .devices = {}, .recording = {}, .coverage = {}, .settings = {}, .reader = {}});
    DeviceView device;
    device.name = "cuda:0";
    view.processes.back().devices.push_back(device);
  }
  DeviceView& device(std::size_t process = 0) { return view.processes.at(process).devices.at(0); }
  void refuse(std::uint64_t bytes, std::size_t process = 0) {
    DeviceBasis& basis = device(process).snapshot.basis;
    ++basis[BasisWord::oom_count_lifetime];
    basis[BasisWord::oom_requested_bytes] = bytes;
    basis[BasisWord::oom_time_ns] = 1'790'000'000'123'000'000;
    basis[BasisWord::oom_device_total_bytes] = 64 * kMiB;
    basis[BasisWord::oom_device_free_bytes] = 7 * kMiB;
  }
};

TEST(MemoryEvents, AreOutOfMemoriesSinceTheLastLook) {
  World world;
  MemoryEvents events{{}};
  EXPECT_TRUE(events.look(world.view).empty());

  world.refuse(100 * kMiB);
  const std::vector<MemoryEvent> first = events.look(world.view);

  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(to_text(first[0].kind), "oom");
  EXPECT_EQ(first[0].pid, 4711);
  EXPECT_EQ(first[0].device, "cuda:0");
  EXPECT_EQ(first[0].requested_bytes, 100 * kMiB);
  EXPECT_EQ(first[0].free_bytes, 7 * kMiB);
  EXPECT_EQ(first[0].times, 1U);
  EXPECT_TRUE(events.look(world.view).empty()) << "told once";

  world.refuse(1);
  world.refuse(2);
  const std::vector<MemoryEvent> second = events.look(world.view);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_EQ(second[0].times, 2U);
  EXPECT_EQ(second[0].requested_bytes, 2U);
}

TEST(MemoryEvents, AreNotWhatWasBeforeTheFirstLook) {
  World world;
  world.refuse(1);
  MemoryEvents events{{}};

  EXPECT_TRUE(events.look(world.view).empty());
}

TEST(MemoryEvents, AreAllOfAProcessThatBeganLater) {
  World world;
  MemoryEvents events{{}};
  EXPECT_TRUE(events.look(world.view).empty());

  world.add("00000002", 4712);
  world.refuse(5, 1);

  const std::vector<MemoryEvent> found = events.look(world.view);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].pid, 4712);
}

TEST(MemoryEvents, TellOnceOfUseAboveAThreshold) {
  World world;
  MemoryEvents events{Threshold::parse("100MiB")};
  const auto look_with = [&](std::uint64_t held) {
    world.device().figures.held = held;
    return events.look(world.view).size();
  };

  EXPECT_EQ(look_with(100 * kMiB), 0U) << "not above";
  EXPECT_EQ(look_with(101 * kMiB), 1U);
  EXPECT_EQ(look_with(150 * kMiB), 0U);
  EXPECT_EQ(look_with(99 * kMiB), 0U);
  EXPECT_EQ(look_with(101 * kMiB), 0U) << "it was hardly below";
  EXPECT_EQ(look_with(95 * kMiB), 0U);
  EXPECT_EQ(look_with(101 * kMiB), 1U);
}

TEST(MemoryEvents, AreNoneAboveAThresholdOfTheDead) {
  World world;
  world.device().figures.held = 2 * kMiB;
  world.view.processes[0].snapshot.state = segment::ProcessState::Killed;

  EXPECT_TRUE(MemoryEvents{Threshold::parse("1MiB")}.look(world.view).empty());
}

TEST(Threshold, IsASizeOrAPartOfTheLimitElseOfTheDevice) {
  World world;
  DeviceView& device = world.device();

  EXPECT_EQ(Threshold::parse("90%")->bytes_for(device), std::nullopt) << "of what?";
  device.figures.capacity = 1000;
  EXPECT_EQ(Threshold::parse("90%")->bytes_for(device), 900U);
  device.figures.limit = 200;
  EXPECT_EQ(Threshold::parse("12.5%")->bytes_for(device), 25U);
  EXPECT_EQ(Threshold::parse("1KiB")->bytes_for(device), 1024U);
}

TEST(Threshold, IsNothingElse) {
  for (const char* wrong : {"", "%", "0", "0%", "101%", "-5%", "90 %", "lots", "nan%", "1e400%"}) {
    EXPECT_FALSE(Threshold::parse(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace tidemark::viewer
