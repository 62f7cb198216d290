// What a viewer can tell about a process that it cannot ask.
#include "shared/control/obstacle.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/shared/control_world.hpp"

namespace tidemark::control {
namespace {

using namespace std::chrono_literals;
using segment::ControlPolicy;
using segment::SegmentReader;
using test::ControlWorld;

TEST(Obstacle, IsNoneWhereRequestsArrive) {
  const ControlWorld named;

  EXPECT_EQ(find_obstacle(named.reader()), Obstacle::None);
}

TEST(Obstacle, IsThatThereNeverWasAControlFile) {
  const test::TemporaryDirectory directory;
  const auto writer = segment::SegmentWriter::create(test::options_in(directory)).value();

  EXPECT_EQ(find_obstacle(SegmentReader::open(writer.path()).value()), Obstacle::Off);
}

TEST(Obstacle, IsThatTheControlFileIsGone) {
  const ControlWorld world;
  ASSERT_EQ(::unlink(world.control_path().c_str()), 0);

  EXPECT_EQ(find_obstacle(world.reader()), Obstacle::Removed);
}

TEST(Obstacle, IsAnotherFileUnderItsName) {
  const ControlWorld world;
  const std::string copy = world.directory / "copy";
  test::write_file(copy, test::read_file(world.control_path()));
  ASSERT_EQ(::chmod(copy.c_str(), 0600), 0);
  ASSERT_EQ(::rename(copy.c_str(), world.control_path().c_str()), 0);

  EXPECT_EQ(find_obstacle(world.reader()), Obstacle::Replaced);
}

TEST(Obstacle, IsAFileThatOthersMayWrite) {
  const ControlWorld world;
  ASSERT_EQ(::chmod(world.control_path().c_str(), 0666), 0);

  EXPECT_EQ(find_obstacle(world.reader()), Obstacle::Opened);
}

TEST(Obstacle, IsWhatTheProcessSaysWhenNothingElseIsToBeSeen) {
  ControlWorld world;
  ASSERT_EQ(::chmod(world.control_path().c_str(), 0666), 0);
  world.host.poll();
  ASSERT_EQ(::chmod(world.control_path().c_str(), 0600), 0);

  EXPECT_EQ(find_obstacle(world.reader()), Obstacle::Closed);
}

// A host in a process of its own that changes itself once its segment is there.
class ChangingHost {
 public:
  explicit ChangingHost(std::function<bool(const std::string& directory)> change)
      : child_([this, change = std::move(change)] { return run(change); }) {
    if (!ready_.wait()) {
      throw std::runtime_error{"the host could not start"};
    }
  }
  [[nodiscard]] SegmentReader reader() const {
    const std::string path = directory_.path();
    return std::move(segment::list_segments({&path, 1}).segments.at(0).reader);
  }

 private:
  int run(const std::function<bool(const std::string&)>& change) {
    segment::WriterOptions options = test::options_in(directory_);
    options.control = &companion_file();
    auto writer = segment::SegmentWriter::create(options);
    if (!writer) {
      return 1;
    }
    test::RecordingHandler handler;
    ControlHost host{writer.value(), handler, ControlPolicy::Full};
    if (!change(directory_.path())) {
      return 1;
    }
    ready_.ring();
    for (;;) {
      host.poll();
      host.wait(1s);
    }
  }

  test::TemporaryDirectory directory_;
  test::Bell ready_;
  test::Child child_;
};

TEST(Obstacle, IsThatTheProcessHasBecomeAnotherUserWhoMayNotLookIntoTheDirectory) {
  if (!test::is_root()) {
    GTEST_SKIP() << "needs root to become another user";
  }
  const ChangingHost host{
      [](const std::string& directory) { return ::chmod(directory.c_str(), 0700) == 0 && test::become_nobody(); }};
  const SegmentReader reader = host.reader();

  EXPECT_EQ(find_obstacle(reader), Obstacle::OtherUser);
}

TEST(Obstacle, IsNoneWhereAnotherUserFindsTheNameAsBefore) {
  if (!test::is_root()) {
    GTEST_SKIP() << "needs root to become another user";
  }
  const ChangingHost host{
      [](const std::string& directory) { return ::chmod(directory.c_str(), 0755) == 0 && test::become_nobody(); }};
  const SegmentReader reader = host.reader();

  EXPECT_EQ(find_obstacle(reader), Obstacle::None);
  ControlClient client = ControlClient::open(reader).value();
  EXPECT_EQ(client.request({.operation = Operation::ResetPeak}, 1h).kind, OutcomeKind::Done);
}

TEST(Obstacle, IsThatTheProcessHasChangedItsRoot) {
  if (!test::is_root()) {
    GTEST_SKIP() << "needs root to change the root directory";
  }
  const ChangingHost host{
      [](const std::string& directory) { return ::chroot(directory.c_str()) == 0 && ::chdir("/") == 0; }};
  const SegmentReader reader = host.reader();
  ControlClient client = ControlClient::open(reader).value();

  EXPECT_EQ(client.request({.operation = Operation::ResetPeak}, 1h).kind, OutcomeKind::Closed);
  EXPECT_EQ(find_obstacle(reader), Obstacle::OtherRoot);
}

}  // namespace
}  // namespace tidemark::control
