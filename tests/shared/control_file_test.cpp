// What may happen to a control file: cut, garbled, replaced, opened to others, removed. It costs requests, never the
// host.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "tests/shared/control_world.hpp"
#include "tests/shared/process_world.hpp"

namespace tidemark::control {
namespace {

using namespace std::chrono_literals;
using segment::AckStatus;
using segment::ControlPolicy;
using segment::SegmentReader;
using test::ControlWorld;
using test::record_of;
using test::Service;
using test::write_record;

TEST(ControlFile, ThatIsTruncatedCostsRequestsOnly) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ControlClient client = ControlClient::open(reader).value();
  const auto whole = test::read_file(world.control_path());
  for (const off_t size : {off_t{4095}, off_t{4000}, off_t{64}, off_t{3}, off_t{0}}) {
    ASSERT_EQ(::truncate(world.control_path().c_str(), size), 0);
    world.host.poll();
    world.host.wait(1ns);
  }
  EXPECT_TRUE(world.host.is_open());
  EXPECT_TRUE(world.handler.requests().empty());

  test::write_file(world.control_path(), whole);
  ASSERT_TRUE(client.post({.operation = Operation::Ping}).ok());
  world.host.poll();
  EXPECT_EQ(client.wait(0ns).kind, OutcomeKind::Done);
}

TEST(ControlFile, FullOfGarbageHoldsNoRequest) {
  ControlWorld world;
  std::mt19937_64 random{42};
  for (int round = 0; round < 50; ++round) {
    std::vector<std::byte> garbage(kControlBytes);
    for (std::byte& byte : garbage) {
      byte = static_cast<std::byte>(random());
    }
    test::write_file(world.control_path(), garbage);
    ASSERT_EQ(world.host.poll(), 0u);
  }
  const SegmentReader reader = world.reader();

  EXPECT_TRUE(world.handler.requests().empty());
  EXPECT_EQ(ControlClient::open(reader).error().code, ErrorCode::BadFormat);
}

// A viewer was killed over its request, and somebody scribbled on it, while the host had it in its hands: the next
// viewer gave its own the same number, and took the answer to the first.
TEST(ControlFile, WithASpoiltSlotGivesNobodyTheAnswerToAnothersRequest) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ASSERT_TRUE(ControlClient::open(reader).value().post({.operation = Operation::ResetPeak}).ok());
  RequestRecord spoilt = record_of(1);
  spoilt.checksum += 1;
  write_record(world, 0, spoilt);
  ControlClient second = ControlClient::open(reader).value();
  ASSERT_EQ(second.slot(), 0u);
  ASSERT_TRUE(second.post({.operation = Operation::Ping}).ok());

  segment::Acknowledgement of_the_first;
  of_the_first.ticket = 1;
  of_the_first.status = AckStatus::Done;
  world.writer.acknowledge(0, of_the_first);

  EXPECT_NE(second.wait(0ns).kind, OutcomeKind::Done);
  Service service{world.host};
  EXPECT_EQ(second.request({.operation = Operation::Ping}, 60s).kind, OutcomeKind::Done);
}

TEST(ControlFile, ThatWasReplacedIsClosedForGood) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  const std::string copy = world.directory / "copy";
  test::write_file(copy, test::read_file(world.control_path()));
  ASSERT_EQ(::chmod(copy.c_str(), 0600), 0);
  ASSERT_EQ(::rename(copy.c_str(), world.control_path().c_str()), 0);
  write_record(world, 0, record_of(1));

  EXPECT_EQ(world.host.poll(), 0u);

  EXPECT_FALSE(world.host.is_open());
  EXPECT_EQ(reader.globals().control_policy, ControlPolicy::Off);
  EXPECT_TRUE(reader.globals().has(segment::ProcessFlag::ControlClosed));
  EXPECT_EQ(ControlClient::open(reader).error().code, ErrorCode::BadFormat) << "nobody reads the copy";
  world.host.wait(1ns);  // still returns
}

TEST(ControlFile, ThatOthersMayWriteIsClosedForGood) {
  ControlWorld world;
  write_record(world, 0, record_of(1));
  ASSERT_EQ(::chmod(world.control_path().c_str(), 0666), 0);

  EXPECT_EQ(world.host.poll(), 0u);
  ASSERT_EQ(::chmod(world.control_path().c_str(), 0600), 0);
  EXPECT_EQ(world.host.poll(), 0u);

  EXPECT_FALSE(world.host.is_open());
  EXPECT_TRUE(world.handler.requests().empty());
}

TEST(ControlFile, ThatWasRemovedIsClosedForGood) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ASSERT_EQ(::unlink(world.control_path().c_str()), 0);

  EXPECT_EQ(world.host.poll(), 0u);

  EXPECT_FALSE(world.host.is_open());
  EXPECT_EQ(ControlClient::open(reader).error().code, ErrorCode::NotFound);
}

TEST(ControlFile, IsReadWithoutADescriptor) {
  ControlWorld world;
  write_record(world, 0, record_of(1));
  rlimit outer{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &outer), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = outer.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);

  const std::size_t taken = world.host.poll();

  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &outer), 0);
  EXPECT_EQ(taken, 1u);
}

// As some containers have it.
void forbid_copies_from_processes() {
  std::array filter{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST(ControlFile, IsReadAlsoWhereTheKernelMayNotCopyFromAMapping) {
  test::Child child{[] {
    forbid_copies_from_processes();
    ControlWorld world;
    write_record(world, 0, record_of(1));
    return static_cast<int>(world.host.poll());
  }};

  EXPECT_EQ(child.wait(), 1);
}

TEST(ControlFile, ThatTheHostLostEndsTheWait) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ControlClient client = ControlClient::open(reader).value();
  ASSERT_EQ(::unlink(world.control_path().c_str()), 0);
  const Service service{world.host};  // only now: a look that began before the file went may still take what it reads

  const Outcome outcome = client.request({.operation = Operation::ResetPeak}, 1h);  // or the test's time limit ends it

  EXPECT_EQ(outcome.kind, OutcomeKind::Closed);
  EXPECT_TRUE(world.handler.requests().empty());
}

TEST(ControlFile, ThatTheHostLostDoesNotEndWhatItHasBegun) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ControlClient client = ControlClient::open(reader).value();
  world.handler.answer_with(AckStatus::Deferred);
  ASSERT_TRUE(client.post({.operation = Operation::EmptyCache}).ok());
  world.host.poll();
  ASSERT_EQ(::unlink(world.control_path().c_str()), 0);
  world.host.poll();
  ASSERT_FALSE(world.host.is_open());

  EXPECT_EQ(client.wait(0ns).kind, OutcomeKind::Deferred);
  world.host.complete(world.handler.requests().at(0), {});
  EXPECT_EQ(client.wait(1h).kind, OutcomeKind::Done);
}

TEST(ControlFile, IsTheOwnersAlone) {
  const ControlWorld world;
  struct stat info {};
  ASSERT_EQ(::stat(world.control_path().c_str(), &info), 0);

  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_EQ(info.st_size, static_cast<off_t>(kControlBytes));
}

TEST(ControlFile, ThatIsMissingFromTheStartIsSaid) {
  const test::TemporaryDirectory directory;
  auto writer = segment::SegmentWriter::create(test::options_in(directory)).value();
  test::RecordingHandler handler;
  ControlHost host{writer, handler, ControlPolicy::Full};
  const SegmentReader reader = SegmentReader::open(writer.path()).value();

  EXPECT_FALSE(host.is_open());
  EXPECT_EQ(host.poll(), 0u);
  host.wait(1ns);
  EXPECT_EQ(reader.globals().control_policy, ControlPolicy::Off);
  EXPECT_EQ(ControlClient::open(reader).error().code, ErrorCode::NotFound);
}

TEST(ControlFile, WithoutANameWorksToo) {
  ControlWorld world{ControlPolicy::Full, segment::Backing::Memfd};
  const auto found = segment::list_memfd_segments();
  const auto ours = std::ranges::find(found.segments, world.writer.nonce(), [](const segment::FoundSegment& segment) {
    return segment.reader.identity().nonce;
  });
  ASSERT_NE(ours, found.segments.end());
  ControlClient client = ControlClient::open(ours->reader).value();

  ASSERT_TRUE(client.post({.operation = Operation::ResetPeak}).ok());
  EXPECT_EQ(world.host.poll(), 1u);

  EXPECT_EQ(client.wait(0ns).kind, OutcomeKind::Done);
}

}  // namespace
}  // namespace tidemark::control
