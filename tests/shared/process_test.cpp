// Segments and what happens to processes: killed at any step, stopped, forked, another user, a full file system.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "shared/segment/enumerate.hpp"
#include "shared/segment/layout.hpp"
#include "shared/segment/liveness.hpp"
#include "shared/segment/reader.hpp"
#include "shared/segment/sequence.hpp"
#include "shared/segment/writer.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::segment {
namespace {

using test::Bell;
using test::Child;
using test::TemporaryDirectory;

constexpr CompanionFile kCompanion{.bytes = 4096, .fill = [](std::span<std::byte>, std::uint64_t) noexcept {}};

SegmentListing list(const TemporaryDirectory& directory) {
  const std::string path = directory.path();
  return list_segments({&path, 1});
}

GcResult collect(const TemporaryDirectory& directory, const GcOptions& options) {
  const std::string path = directory.path();
  return collect_garbage({&path, 1}, options);
}

// Makes everything in the directory look old enough for whatever waits before it removes.
void age(const TemporaryDirectory& directory) {
  for (const std::string& name : directory.entries()) {
    const timespec times[2] = {{.tv_sec = 1000, .tv_nsec = 0}, {.tv_sec = 1000, .tv_nsec = 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (directory / name).c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
  }
}

// A process with a segment and one device that waits to be ended.
class Host {
 public:
  explicit Host(const TemporaryDirectory& directory, Backing backing = Backing::Named)
      : child_([&] {
          WriterOptions options = test::options_in(directory);
          options.backing = backing;
          options.control = &kCompanion;
          auto made = SegmentWriter::create(options);
          if (!made || !made.value().claim_device(test::sample_device(), test::sample_basis())) {
            return 1;
          }
          ready_.ring();
          for (;;) {
            ::pause();
          }
          return 0;
        }) {
    if (!ready_.wait()) {
      throw std::runtime_error{"the host could not make its segment"};
    }
  }
  Child& child() { return child_; }

 private:
  Bell ready_;
  Child child_;
};

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

// In a mount namespace of its own, `options` mounted as tmpfs over the directory; returns the error of create().
int error_on_tmpfs(const TemporaryDirectory& directory, const char* options, unsigned long flags) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", directory.path().c_str(), "tmpfs", 0, options) != 0) {
    return 255;
  }
  if (flags != 0 && ::mount("none", directory.path().c_str(), nullptr, MS_REMOUNT | flags, nullptr) != 0) {
    return 255;
  }
  const auto made = SegmentWriter::create(test::options_in(directory));
  if (made.ok()) {
    return 254;
  }
  const bool is_clean = directory.entries().empty();
  return is_clean ? static_cast<int>(made.error().code) : 253;
}

class BadDirectory : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::is_root()) {
      GTEST_SKIP() << "needs root for a mount namespace";
    }
  }
  void expect(const char* options, unsigned long flags, ErrorCode code) {
    const TemporaryDirectory directory;
    Child child{[&] { return error_on_tmpfs(directory, options, flags); }};
    const int result = child.wait();
    if (result == 255) {
      GTEST_SKIP() << "no mount namespaces here";
    }
    EXPECT_EQ(result, static_cast<int>(code));
  }
};

TEST_F(BadDirectory, ThatIsFullIsAnError) { expect("size=64k", 0, ErrorCode::NoSpace); }
TEST_F(BadDirectory, WithoutInodesIsAnError) { expect("nr_inodes=1", 0, ErrorCode::NoSpace); }
TEST_F(BadDirectory, ThatIsReadOnlyIsAnError) { expect("size=64m", MS_RDONLY, ErrorCode::PermissionDenied); }

TEST(Creation, DoesNotEatASmallSharedMemory) {
  if (!test::is_root()) {
    GTEST_SKIP() << "needs root for a mount namespace";
  }
  // 256 KiB would hold our 32, but the rest of the machine needs it more.
  const TemporaryDirectory directory;
  Child child{[&] { return error_on_tmpfs(directory, "size=256k", 0); }};

  const int result = child.wait();

  EXPECT_TRUE(result == static_cast<int>(ErrorCode::NoSpace) || result == 255) << result;
}

// posix_fallocate beyond `ulimit -f` sends SIGXFSZ, which would end the host program.
TEST(Creation, RespectsTheFileSizeLimit) {
  const TemporaryDirectory directory;
  for (const Backing backing : {Backing::Named, Backing::Memfd}) {
    Child child{[&] {
      const rlimit limit{.rlim_cur = 4096, .rlim_max = 4096};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      WriterOptions options = test::options_in(directory);
      options.backing = backing;
      const auto made = SegmentWriter::create(options);
      return !made.ok() && made.error().code == ErrorCode::NoSpace ? 0 : 1;
    }};
    EXPECT_EQ(child.wait(), 0);
    EXPECT_TRUE(directory.entries().empty());
  }
}

TEST(Creation, KeepsNoDescriptorOfANamedSegment) {
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, std::filesystem::directory_iterator{});
  };
  const TemporaryDirectory directory;
  const auto before = count();
  WriterOptions options = test::options_in(directory);
  options.control = &kCompanion;

  auto writer = SegmentWriter::create(options).value();

  EXPECT_EQ(count(), before);
  EXPECT_EQ(SegmentReader::open(writer.path()).value().state(), ProcessState::Live) << "the mapping holds the lock";
}

TEST(Creation, OutOfDescriptorsIsAnError) {
  const TemporaryDirectory directory;
  Child child{[&] {
    const rlimit limit{.rlim_cur = 3, .rlim_max = 3};
    ::setrlimit(RLIMIT_NOFILE, &limit);
    const auto made = SegmentWriter::create(test::options_in(directory));
    return !made.ok() && made.error().code == ErrorCode::System && made.error().native == EMFILE ? 0 : 1;
  }};

  EXPECT_EQ(child.wait(), 0);
}

TEST(Memfd, IsFoundThroughItsProcess) {
  const TemporaryDirectory directory;
  Host host{directory, Backing::Memfd};

  const SegmentListing found = list_memfd_segments();

  EXPECT_TRUE(directory.entries().empty());
  const auto ours = std::ranges::find(found.segments, std::int64_t{host.child().pid()},
                                      [](const FoundSegment& segment) { return segment.reader.identity().pid; });
  ASSERT_NE(ours, found.segments.end());
  EXPECT_EQ(ours->reader.state(), ProcessState::Live);
  EXPECT_EQ(ours->reader.snapshot().devices.at(0).basis.words, test::sample_basis().words);
  EXPECT_TRUE(find_control_path(ours->reader).value().starts_with("/proc/"));
}

TEST(Memfd, CannotBeTruncatedOrOverwritten) {
  const TemporaryDirectory directory;
  Host host{directory, Backing::Memfd};
  const SegmentListing found = list_memfd_segments();
  const auto ours = std::ranges::find(found.segments, std::int64_t{host.child().pid()},
                                      [](const FoundSegment& segment) { return segment.reader.identity().pid; });
  ASSERT_NE(ours, found.segments.end());

  EXPECT_EQ(::truncate(ours->reader.path().c_str(), 0), -1);

  const FileHandle file{::open(ours->reader.path().c_str(), O_RDWR | O_CLOEXEC)};
  if (file) {  // root may open it
    EXPECT_EQ(::pwrite(file.get(), "x", 1, 0), -1);
  }
}

TEST(PidNamespace, IsSeenThrough) {
  if (!test::is_root()) {
    GTEST_SKIP() << "needs root for a pid namespace";
  }
  const TemporaryDirectory directory;
  Bell ready;
  Child outer{[&] {
    if (::unshare(CLONE_NEWPID) != 0) {
      return 255;
    }
    Child inner{[&] {
      auto writer = SegmentWriter::create(test::options_in(directory));
      ready.ring();
      ::pause();
      return writer.ok() ? 0 : 1;
    }};
    return inner.wait();
  }};
  if (!ready.wait()) {
    GTEST_SKIP() << "no pid namespaces here";
  }
  const SegmentListing found = list(directory);
  const SegmentReader& reader = found.segments.at(0).reader;

  EXPECT_EQ(reader.identity().pid, 1);
  ASSERT_GT(reader.visible_pid(), 1);  // signals follow, and 0 would mean ourselves
  EXPECT_EQ(reader.state(), ProcessState::Live);
  // The number from the kernel's list of locks is the process outside: stopping it is what the state then says.
  ::kill(static_cast<pid_t>(reader.visible_pid()), SIGSTOP);
  while (look_at_process(reader.visible_pid(), 0) == ProcessSign::Running) {
  }
  EXPECT_EQ(reader.state(), ProcessState::Stopped);
  ::kill(static_cast<pid_t>(reader.visible_pid()), SIGKILL);
  outer.wait();
  EXPECT_EQ(reader.state(), ProcessState::Killed);
  EXPECT_EQ(reader.visible_pid(), 0);
}

}  // namespace
}  // namespace tidemark::segment
