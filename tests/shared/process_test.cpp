// Segments and what happens to processes: killed at any step, stopped, forked, another user, a full file system.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <string>

#include "shared/segment/enumerate.hpp"
#include "shared/segment/layout.hpp"
#include "shared/segment/liveness.hpp"
#include "shared/segment/own_identity.hpp"
#include "shared/segment/reader.hpp"
#include "shared/segment/sequence.hpp"
#include "shared/segment/writer.hpp"
#include "tests/shared/process_world.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::segment {
namespace {

using test::age;
using test::Bell;
using test::Child;
using test::collect;
using test::Host;
using test::kCompanion;
using test::list;
using test::TemporaryDirectory;

TEST(Process, ThatIsKilledKeepsItsLastNumbers) {
  const TemporaryDirectory directory;
  Host host{directory};
  const SegmentListing found = list(directory);
  ASSERT_EQ(found.segments.size(), 1u);
  const SegmentReader& reader = found.segments[0].reader;
  EXPECT_EQ(reader.state(), ProcessState::Live);
  EXPECT_EQ(reader.visible_pid(), host.child().pid());

  host.child().send(SIGKILL);
  EXPECT_EQ(host.child().wait(), -SIGKILL);

  const ProcessSnapshot snapshot = reader.snapshot();
  EXPECT_EQ(snapshot.state, ProcessState::Killed);
  EXPECT_FALSE(reader.is_owner_alive());
  EXPECT_EQ(snapshot.devices.at(0).basis.words, test::sample_basis().words);
  EXPECT_FALSE(snapshot.devices.at(0).approximate);
}

TEST(Process, ThatIsStoppedIsNotDead) {
  const TemporaryDirectory directory;
  Host host{directory};
  const SegmentListing found = list(directory);
  const SegmentReader& reader = found.segments.at(0).reader;

  host.child().send(SIGSTOP);
  host.child().wait_until_stopped();

  EXPECT_EQ(reader.state(), ProcessState::Stopped);
  EXPECT_TRUE(reader.is_owner_alive());
}

// What a screen saves itself: the kernel is not asked whether a process is stopped that has just beaten.
TEST(Process, ThatHasJustBeatenIsTakenForRunningWhileItLives) {
  const TemporaryDirectory directory;
  Host host{directory};
  const SegmentListing found = list(directory);
  const SegmentReader& reader = found.segments.at(0).reader;
  host.child().send(SIGSTOP);
  host.child().wait_until_stopped();
  ASSERT_EQ(::chmod(reader.path().c_str(), 0600), 0);
  const FileHandle file{::open(reader.path().c_str(), O_RDWR | O_CLOEXEC)};
  const auto beat = [&](std::uint64_t number, std::uint64_t time) {
    const std::uint64_t words[] = {number, 0, time};
    constexpr std::size_t kAt = offsetof(SegmentLayout, global) + offsetof(GlobalRecord, heartbeat_count);
    ASSERT_EQ(::pwrite(file.get(), words, sizeof words, kAt), static_cast<ssize_t>(sizeof words));
  };
  const auto state = [&](std::uint64_t seen) { return reader.snapshot({}, {.heartbeat_count = seen}).state; };

  // A slow machine may take longer than a beat is believed: then there is another one.
  std::uint64_t number = 1;
  do {
    beat(++number, clock_ns(CLOCK_BOOTTIME));
  } while (state(number - 1) != ProcessState::Live && number < 1000);

  EXPECT_LT(number, 1000U);
  EXPECT_EQ(reader.snapshot().state, ProcessState::Stopped) << "nothing earlier is known";
  EXPECT_EQ(state(number), ProcessState::Stopped) << "it has not beaten since";
  beat(++number, clock_ns(CLOCK_BOOTTIME) - 3'000'000'000);
  EXPECT_EQ(state(number - 1), ProcessState::Stopped) << "not lately";
  beat(++number, clock_ns(CLOCK_BOOTTIME) + 3'600'000'000'000);
  EXPECT_EQ(state(number - 1), ProcessState::Stopped) << "by another clock";

  host.child().send(SIGKILL);
  host.child().wait();
  beat(++number, clock_ns(CLOCK_BOOTTIME));
  EXPECT_EQ(state(number - 1), ProcessState::Killed) << "the lock tells";
}

// It was taken for killed.
TEST(Process, ThatRunsAnotherProgramIsReplaced) {
  const TemporaryDirectory directory;
  Bell ready;
  Child child{[&] {
    auto made = SegmentWriter::create(test::options_in(directory));
    ready.ring();
    ::execl("/bin/sleep", "sleep", "1000", static_cast<char*>(nullptr));
    return 1;
  }};
  ASSERT_TRUE(ready.wait());
  const SegmentListing found = list(directory);
  const SegmentReader& reader = found.segments.at(0).reader;
  while (reader.is_owner_alive()) {
    ::usleep(1000);  // until the exec
  }

  EXPECT_EQ(reader.state(), ProcessState::Replaced);

  child.send(SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(reader.state(), ProcessState::Killed) << "a zombie runs nothing";
  child.wait();
  EXPECT_EQ(reader.state(), ProcessState::Killed);
}

TEST(Process, ThatIsKilledInTheMiddleOfAnUpdateIsShownAsApproximate) {
  const TemporaryDirectory directory;
  // The child dies between an odd and an even sequence.
  Child child{[&] {
    auto made = SegmentWriter::create(test::options_in(directory));
    DeviceSlot slot = made.value().claim_device(test::sample_device(), test::sample_basis()).value();
    std::byte* const address = test::mapping_of(made.value().path());
    auto& record = reinterpret_cast<SegmentLayout*>(address)->devices[slot.index()];
    std::uint64_t sequence = record.sequence.load();
    const WriteSection section{record.sequence, sequence};
    ::raise(SIGKILL);
    return 0;
  }};
  EXPECT_EQ(child.wait(), -SIGKILL);

  const ProcessSnapshot snapshot = list(directory).segments.at(0).reader.snapshot();

  EXPECT_EQ(snapshot.state, ProcessState::Killed);
  EXPECT_TRUE(snapshot.devices.at(0).approximate);
  EXPECT_EQ(snapshot.devices.at(0).basis.words, test::sample_basis().words);
}

TEST(Creation, KilledAtAnyStepLeavesNothingHalfMade) {
  for (std::size_t step = 0; step < kCreationSteps; ++step) {
    const TemporaryDirectory directory;
    Child child{[&] {
      auto wanted = static_cast<CreationStep>(step);
      WriterOptions options = test::options_in(directory);
      options.control = &kCompanion;
      options.on_step_data = &wanted;
      options.on_step = [](CreationStep done, void* data) noexcept {
        if (done == *static_cast<CreationStep*>(data)) {
          ::raise(SIGKILL);
        }
      };
      return SegmentWriter::create(options).ok() ? 0 : 1;
    }};
    ASSERT_EQ(child.wait(), -SIGKILL) << "step " << step;

    const SegmentListing found = list(directory);
    const bool is_visible = static_cast<CreationStep>(step) == CreationStep::StatsRenamed;
    EXPECT_EQ(found.segments.size(), is_visible ? 1u : 0u) << "step " << step;
    EXPECT_TRUE(found.skipped.empty()) << "step " << step;
    if (is_visible) {
      EXPECT_EQ(found.segments[0].reader.state(), ProcessState::Killed);
      EXPECT_TRUE(found.segments[0].reader.identity().has_control);
    }

    age(directory);
    collect(directory, {.keep_for = std::chrono::seconds{0}});
    EXPECT_TRUE(directory.entries().empty()) << "step " << step;
  }
}

TEST(Creation, ThatFailsLeavesNothing) {
  const TemporaryDirectory directory;
  WriterOptions options = test::options_in(directory);
  constexpr CompanionFile kTooLarge{.bytes = 4097, .fill = kCompanion.fill};
  options.control = &kTooLarge;

  EXPECT_EQ(SegmentWriter::create(options).error().code, ErrorCode::InvalidValue);

  EXPECT_TRUE(directory.entries().empty());
}

// The child of a fork has the parent's memory but not its segment: it must not keep a dead parent's alive.
TEST(Process, ThatIsKilledIsDeadThoughItsChildLives) {
  const TemporaryDirectory directory;
  Bell ready;
  Bell release;
  Child parent{[&] {
    auto made = SegmentWriter::create(test::options_in(directory));
    if (::fork() == 0) {
      ready.ring();
      static_cast<void>(release.wait());
      ::_exit(0);
    }
    ::pause();
    return 0;
  }};
  ASSERT_TRUE(ready.wait());
  const SegmentListing found = list(directory);
  const SegmentReader& reader = found.segments.at(0).reader;
  EXPECT_EQ(reader.state(), ProcessState::Live);

  parent.send(SIGKILL);
  parent.wait();

  EXPECT_FALSE(reader.is_owner_alive());
  EXPECT_EQ(reader.state(), ProcessState::Killed);
  release.ring();
}

TEST(Process, DoesNotLoseItsFilesToAForkedChild) {
  const TemporaryDirectory directory;
  auto writer = SegmentWriter::create(test::options_in(directory)).value();

  Child child{[&] {
    writer.remove_files();
    return 0;
  }};
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(directory.entries().size(), 1u);

  writer.remove_files();
  EXPECT_TRUE(directory.entries().empty());
}

TEST(Process, ThatCannotRemoveItsFilesLeavesThemAsGarbage) {
  const TemporaryDirectory directory;
  const std::string elsewhere = directory.path() + ".elsewhere";
  Child child{[&] {
    auto writer = SegmentWriter::create(test::options_in(directory)).value();
    writer.mark_exited();
    ::rename(directory.path().c_str(), elsewhere.c_str());
    writer.remove_files();
    ::rename(elsewhere.c_str(), directory.path().c_str());
    return 0;
  }};
  ASSERT_EQ(child.wait(), 0);
  ASSERT_EQ(directory.entries().size(), 1u);

  EXPECT_EQ(collect(directory, {}).removed.size(), 1u) << "though it ended just now";
  EXPECT_TRUE(directory.entries().empty());
}

TEST(Process, CannotTruncateItsCountersByMistake) {
  if (!test::is_root()) {
    GTEST_SKIP() << "needs root to become an ordinary user";
  }
  const TemporaryDirectory directory;
  Child child{[&] {
    if (!test::become_nobody()) {
      return 2;
    }
    auto writer = SegmentWriter::create(test::options_in(directory)).value();
    const bool is_refused = ::truncate(writer.path(), 0) == -1 && errno == EACCES &&
                            ::open(writer.path(), O_RDWR | O_CLOEXEC) == -1 && errno == EACCES;
    return is_refused && SegmentReader::open(writer.path()).ok() ? 0 : 1;
  }};

  EXPECT_EQ(child.wait(), 0);
}

TEST(OtherUsers, SeeThatASegmentExistsAndNoMore) {
  if (!test::is_root()) {
    GTEST_SKIP() << "needs root to become another user";
  }
  const TemporaryDirectory directory;
  Host host{directory};
  Child other{[&] {
    if (!test::become_nobody()) {
      return 2;
    }
    const SegmentListing found = list(directory);
    const bool is_counted = found.segments.empty() && found.skipped.empty() && found.unreadable.size() == 1 &&
                            found.unreadable[0].file_uid == 0 &&
                            found.unreadable[0].name.pid == static_cast<std::uint32_t>(host.child().pid());
    // Nor can it be swept away.
    const GcResult swept = collect(directory, {.keep_for = std::chrono::seconds{0}});
    return is_counted && swept.removed.empty() ? 0 : 1;
  }};

  EXPECT_EQ(other.wait(), 0);
}

TEST(OtherUsers, MayReadWhereTheOwnerAllowsIt) {
  if (!test::is_root()) {
    GTEST_SKIP() << "needs root to become another user";
  }
  const TemporaryDirectory directory;
  WriterOptions options = test::options_in(directory);
  options.access = Access::All;
  options.control = &kCompanion;
  auto writer = SegmentWriter::create(options).value();
  Child other{[&] {
    if (!test::become_nobody()) {
      return 2;
    }
    const SegmentListing found = list(directory);
    if (found.segments.size() != 1) {
      return 1;
    }
    const bool is_control_closed = ::open(find_control_path(found.segments[0].reader).value().c_str(), O_RDONLY) == -1;
    return found.segments[0].reader.state() == ProcessState::Live && is_control_closed ? 0 : 1;
  }};

  EXPECT_EQ(other.wait(), 0);
}

}  // namespace
}  // namespace tidemark::segment
