// Where a segment cannot be made, or only in another way: full and read-only directories, limits, memfds, namespaces.
#include <fcntl.h>
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
#include "tests/shared/process_world.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::segment {
namespace {

using test::Bell;
using test::Child;
using test::Host;
using test::kCompanion;
using test::list;
using test::TemporaryDirectory;

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

// A program that closed its standard files may go on writing to them.
TEST(Creation, StaysOffTheNumbersOfTheStandardFiles) {
  for (const char* place : {"", "/dev/shm"}) {
    const TemporaryDirectory directory;
    Child child{[&] {
      ::close(STDIN_FILENO);
      ::close(STDERR_FILENO);
      WriterOptions options = test::options_in(directory);
      options.directory = *place == '\0' ? options.directory : place;
      options.control = &kCompanion;
      static bool is_off = true;
      options.on_step = [](CreationStep, void*) noexcept {
        is_off = is_off && ::fcntl(STDIN_FILENO, F_GETFD) < 0 && ::fcntl(STDERR_FILENO, F_GETFD) < 0;
      };
      auto writer = SegmentWriter::create(options);
      if (writer.ok()) {
        writer.value().remove_files();
      }
      return writer.ok() && is_off ? 0 : 1;
    }};
    EXPECT_EQ(child.wait(), 0) << place;
  }
}

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
