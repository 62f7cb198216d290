// Finding segments in directories, and removing dead ones.
#include "shared/segment/enumerate.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "shared/segment/container_directories.hpp"
#include "tests/shared/segment_image.hpp"

namespace tidemark::segment {
namespace {

using test::TemporaryDirectory;

class Segments : public testing::Test {
 protected:
  SegmentListing list() const {
    const std::string path = directory.path();
    return list_segments({&path, 1});
  }
  GcResult collect(const GcOptions& options = {}) const {
    const std::string path = directory.path();
    return collect_garbage({&path, 1}, options);
  }
  // A segment whose process is over, with a control file beside it. `sign_s`: when it was last heard of.
  std::string add_dead(std::uint64_t nonce, std::uint64_t sign_s) {
    test::SegmentImage image;
    image.put(offsetof(Head, nonce), nonce);
    std::string name{stats_name({.uid = ::geteuid(), .pid = 4711, .nonce = nonce}).view()};
    image.write_to(directory / name);
    test::write_file(directory / (name + ".ctl"), std::vector<std::byte>(100));
    set_time(name, sign_s);
    set_time(name + ".ctl", sign_s);
    return name;
  }
  void set_time(const std::string& name, std::uint64_t seconds) const {
    const timespec time{.tv_sec = static_cast<time_t>(seconds), .tv_nsec = 0};
    const timespec times[2] = {time, time};
    ::utimensat(AT_FDCWD, (directory / name).c_str(), times, 0);
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(directory / name); }

  static std::uint64_t now_s() { return static_cast<std::uint64_t>(::time(nullptr)); }
  static constexpr std::uint64_t kHour = 3600;

  TemporaryDirectory directory;
};

TEST_F(Segments, AreListedInOrderOfCreation) {
  auto first = SegmentWriter::create(test::options_in(directory)).value();
  auto second = SegmentWriter::create(test::options_in(directory)).value();

  const SegmentListing found = list();

  ASSERT_EQ(found.segments.size(), 2u);
  EXPECT_EQ(found.segments[0].reader.identity().nonce, first.nonce());
  EXPECT_EQ(found.segments[1].reader.identity().nonce, second.nonce());
  EXPECT_EQ(found.segments[0].directory, directory.path());
}

TEST_F(Segments, ThatAreFoundTwiceAreListedOnce) {
  auto writer = SegmentWriter::create(test::options_in(directory)).value();
  const std::vector<std::string> directories{directory.path(), directory.path() + "/.", "/nonexistent"};

  EXPECT_EQ(list_segments(directories).segments.size(), 1u);
}

TEST_F(Segments, StandAmongFilesThatAreNone) {
  auto writer = SegmentWriter::create(test::options_in(directory)).value();
  test::write_file(directory / "notes.txt", std::vector<std::byte>(10));
  test::write_file(directory / "tidemark.1.2.ctl", {});
  test::write_file(directory / "tidemark.0.1.00000000000000aa", std::vector<std::byte>(8192));  // zeros
  test::write_file(directory / "tidemark.0.1.00000000000000ab", {});
  test::SegmentImage newer;
  newer.put<std::uint16_t>(offsetof(Head, major), 9);
  newer.write_to(directory / "tidemark.0.1.00000000000000ac");
  std::filesystem::create_symlink(writer.path(), directory / "tidemark.0.1.00000000000000ad");
  std::filesystem::create_directory(directory / "tidemark.0.1.00000000000000ae");

  SegmentListing found = list();

  EXPECT_EQ(found.segments.size(), 1u);
  std::ranges::sort(found.skipped, {}, &SkippedFile::path);
  ASSERT_EQ(found.skipped.size(), 5u);
  EXPECT_EQ(found.skipped[0].error.code, ErrorCode::BadFormat);
  EXPECT_EQ(found.skipped[2].error.code, ErrorCode::WrongVersion);
  EXPECT_FALSE(found.skipped[2].reason.empty());
  EXPECT_EQ(found.skipped[3].error.code, ErrorCode::BadFormat) << "a link";
}

TEST_F(Segments, OfDeadProcessesAreKeptForADay) {
  const std::string young = add_dead(1, now_s() - 23 * kHour);
  const std::string old = add_dead(2, now_s() - 25 * kHour);

  const GcResult result = collect();

  EXPECT_TRUE(exists(young) && exists(young + ".ctl"));
  EXPECT_FALSE(exists(old) || exists(old + ".ctl"));
  EXPECT_EQ(result.kept, 1u);
  ASSERT_EQ(result.removed.size(), 1u);
  EXPECT_EQ(result.removed[0].nonce, 2u);
  EXPECT_EQ(result.removed[0].bytes, kSegmentBytes + 100);
}

TEST_F(Segments, OfDeadProcessesAreKeptUpToANumber) {
  for (std::uint64_t i = 1; i <= 35; ++i) {
    add_dead(i, now_s() - i);
  }

  const GcResult result = collect();

  EXPECT_EQ(result.kept, 32u);
  EXPECT_EQ(result.removed.size(), 3u);
  for (const RemovedSegment& removed : result.removed) {
    EXPECT_GT(removed.nonce, 32u) << "the oldest go";
  }
}

// A store through a mapping does not touch the file's time, so the heartbeat counts too.
TEST_F(Segments, ThatLivedLongAgeFromTheirLastHeartbeat) {
  test::SegmentImage image;
  image.put(offsetof(Head, nonce), std::uint64_t{7});
  image.put(offsetof(SegmentLayout, global) + offsetof(GlobalRecord, heartbeat_realtime_ns),
            (now_s() - kHour) * 1'000'000'000);
  const std::string name{stats_name({.uid = ::geteuid(), .pid = 4711, .nonce = 7}).view()};
  image.write_to(directory / name);
  set_time(name, now_s() - 100 * kHour);

  EXPECT_EQ(collect().kept, 1u);
  EXPECT_TRUE(exists(name));
}

TEST_F(Segments, OfLiveProcessesStayWhateverTheirAge) {
  auto writer = SegmentWriter::create(test::options_in(directory)).value();
  set_time(directory.entries().at(0), 1000);

  const GcResult result = collect({.keep_for = std::chrono::seconds{0}, .keep_at_most = 0});

  EXPECT_TRUE(result.removed.empty());
  EXPECT_EQ(result.kept, 0u);
  EXPECT_TRUE(writer.is_name_present());
}

TEST_F(Segments, AreOnlyNamedByADryRun) {
  const std::string old = add_dead(2, 1000);

  const GcResult result = collect({.dry_run = true});

  EXPECT_EQ(result.removed.size(), 1u);
  EXPECT_TRUE(exists(old) && exists(old + ".ctl"));
}

TEST_F(Segments, OfOneRunCanBeRemovedAlone) {
  const std::string ours = add_dead(2, 1000);
  const std::string others = add_dead(3, 1000);

  const GcResult result =
      collect({.keep_for = std::chrono::seconds{0}, .is_meant = [](std::uint64_t nonce) { return nonce == 2; }});

  EXPECT_EQ(result.removed.size(), 1u);
  EXPECT_FALSE(exists(ours) || exists(ours + ".ctl"));
  EXPECT_TRUE(exists(others) && exists(others + ".ctl"));
}

constexpr uid_t kNobody = 65534;

TEST_F(Segments, OfOtherUsersAreCountedAndLeft) {
  if (!test::is_root()) {
    GTEST_SKIP() << "needs root to give files away";
  }
  const std::string theirs = add_dead(1, 1000);
  ASSERT_EQ(::chown((directory / theirs).c_str(), kNobody, kNobody), 0);
  const std::string ours = add_dead(2, 1000);

  const GcResult result = collect();

  EXPECT_TRUE(exists(theirs));
  EXPECT_FALSE(exists(ours));
  EXPECT_EQ(result.left_alone, (std::map<std::uint64_t, std::size_t>{{kNobody, 1}}));
}

TEST_F(Segments, OfEveryoneAreRemovedWhenAskedFor) {
  if (!test::is_root()) {
    GTEST_SKIP() << "needs root to give files away";
  }
  const std::string theirs = add_dead(1, 1000);
  const std::string mixed = add_dead(2, 1000);
  for (const std::string& name : {theirs, theirs + ".ctl", mixed}) {
    ASSERT_EQ(::chown((directory / name).c_str(), kNobody, kNobody), 0);
  }

  const GcResult result = collect({.of_everyone = true});

  EXPECT_FALSE(exists(theirs) || exists(theirs + ".ctl") || exists(mixed));
  EXPECT_TRUE(exists(mixed + ".ctl")) << "it only has the name of their companion";
  ASSERT_EQ(result.removed.size(), 2u);
  EXPECT_EQ(result.removed[0].uid, kNobody);
  EXPECT_TRUE(result.left_alone.empty());
}

TEST_F(Segments, AreKeptUpToANumberForEachUser) {
  if (!test::is_root()) {
    GTEST_SKIP() << "needs root to give files away";
  }
  const std::string theirs = add_dead(1, now_s() - 100);
  ASSERT_EQ(::chown((directory / theirs).c_str(), kNobody, kNobody), 0);
  const std::string ours = add_dead(2, now_s() - 1);

  const GcResult result = collect({.keep_at_most = 1, .of_everyone = true});

  EXPECT_TRUE(exists(theirs) && exists(ours));
  EXPECT_EQ(result.kept, 2u);
}

TEST_F(Segments, ThatAreDamagedAreRemovedAsWell) {
  const std::string name{stats_name({.uid = ::geteuid(), .pid = 1, .nonce = 5}).view()};
  test::write_file(directory / name, std::vector<std::byte>(17));
  set_time(name, 1000);

  EXPECT_EQ(collect().removed.size(), 1u);
  EXPECT_FALSE(exists(name));
}

TEST_F(Segments, LeaveNoCompanionBehind) {
  const std::string name{stats_name({.uid = ::geteuid(), .pid = 1, .nonce = 5}).view()};
  test::write_file(directory / (name + ".ctl"), {});
  test::write_file(directory / (name + ".hist"), {});
  test::write_file(directory / "tidemark.x.ctl", {});

  collect();

  EXPECT_FALSE(exists(name + ".ctl")) << "counters gone, no owner";
  EXPECT_TRUE(exists(name + ".hist")) << "a history is kept as long as counters are";
  EXPECT_TRUE(exists("tidemark.x.ctl")) << "not a name of ours";
  set_time(name + ".hist", 1000);
  collect();
  EXPECT_FALSE(exists(name + ".hist"));
}

TEST_F(Segments, LeaveNoSnapshotThatNobodyFetched) {
  const std::string name{stats_name({.uid = ::geteuid(), .pid = 1, .nonce = 5}).view()};
  test::write_file(directory / (name + ".snap.3"), {});

  collect();

  EXPECT_TRUE(exists(name + ".snap.3")) << "somebody may just be fetching it";
  set_time(name + ".snap.3", 1000);
  collect();
  EXPECT_FALSE(exists(name + ".snap.3"));
}

TEST_F(Segments, BeingMadeAreLeftAlone) {
  test::write_file(directory / ".tidemark-init.0000000000000001", {});
  test::write_file(directory / ".tidemark-init.0000000000000002", {});
  set_time(".tidemark-init.0000000000000002", 1000);

  collect();

  EXPECT_TRUE(exists(".tidemark-init.0000000000000001"));
  EXPECT_FALSE(exists(".tidemark-init.0000000000000002"));
}

TEST(Containers, AreLookedIntoByRootAlone) {
  const std::array<std::string, 2> directories{"/dev/shm", "relative"};

  const std::vector<std::string> found = directories_in_containers(directories, {});

  for (const std::string& directory : found) {
    EXPECT_TRUE(directory.starts_with("/proc/") && directory.ends_with("/root/dev/shm")) << directory;
  }
  EXPECT_TRUE(geteuid() == 0 || found.empty());
}

}  // namespace
}  // namespace tidemark::segment
