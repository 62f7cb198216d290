// Requests that are taken back, or that nobody waits for.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "tests/shared/control_world.hpp"

namespace tidemark::control {
namespace {

using namespace std::chrono_literals;
using segment::AckStatus;
using segment::SegmentReader;
using test::ControlWorld;

// The slot's record, until it holds a Nop: the moment at which a cancel() under way has been posted.
void wait_for_nop(const ControlWorld& world, std::uint32_t slot) {
  const segment::FileHandle file{::open(world.control_path().c_str(), O_RDONLY | O_CLOEXEC)};
  RequestRecord record;
  do {
    ASSERT_EQ(::pread(file.get(), &record, sizeof record,
                      static_cast<off_t>(offsetof(ControlImage, slots) + slot * sizeof record)),
              static_cast<ssize_t>(sizeof record));
  } while (record.operation != static_cast<std::uint32_t>(Operation::Nop));
}

TEST(Cancel, BeforeTheHostLookedMeansThatNothingRan) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ControlClient client = ControlClient::open(reader).value();
  ASSERT_TRUE(client.post({.operation = Operation::SetLimit}).ok());
  std::thread host{[&] {
    wait_for_nop(world, 0);
    world.host.poll();
  }};

  const Outcome outcome = client.cancel(60s);
  host.join();

  EXPECT_EQ(outcome.kind, OutcomeKind::Timeout);
  EXPECT_TRUE(world.handler.requests().empty());
}

TEST(Cancel, AfterTheFactSaysWhatHappened) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ControlClient client = ControlClient::open(reader).value();
  ASSERT_TRUE(client.post({.operation = Operation::SetLimit}).ok());
  world.host.poll();
  std::thread host{[&] {
    wait_for_nop(world, 0);
    world.host.poll();
  }};

  const Outcome outcome = client.cancel(60s);
  host.join();

  EXPECT_EQ(outcome.kind, OutcomeKind::Done);
}

TEST(Cancel, TakesADeferredRequestBack) {
  for (const bool may_withdraw : {true, false}) {
    ControlWorld world;
    const SegmentReader reader = world.reader();
    ControlClient client = ControlClient::open(reader).value();
    world.handler.answer_with(AckStatus::Deferred);
    world.handler.allow_withdrawal(may_withdraw);
    ASSERT_TRUE(client.post({.operation = Operation::EmptyCache}).ok());
    world.host.poll();
    std::thread host{[&] {
      wait_for_nop(world, 0);
      world.host.poll();
    }};

    const Outcome outcome = client.cancel(60s);
    host.join();

    EXPECT_EQ(outcome.kind, may_withdraw ? OutcomeKind::Timeout : OutcomeKind::Deferred);
    EXPECT_EQ(world.handler.withdrawals(), 1u);
  }
}

TEST(Cancel, WithoutAnAnswerIsIndeterminate) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ControlClient client = ControlClient::open(reader).value();
  ASSERT_TRUE(client.post({.operation = Operation::SetLimit}).ok());

  EXPECT_EQ(client.cancel(0ns).kind, OutcomeKind::Indeterminate);

  EXPECT_EQ(world.host.poll(), 1u) << "the Nop that took its place";
  EXPECT_TRUE(world.handler.requests().empty());
}

TEST(Request, ThatMayRunLaterStaysPosted) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  {
    ControlClient client = ControlClient::open(reader).value();
    const Outcome outcome = client.request({.operation = Operation::EmptyCache, .may_run_later = true}, 0ns);
    EXPECT_EQ(outcome.kind, OutcomeKind::Deferred);
  }

  EXPECT_EQ(world.host.poll(), 1u);
  EXPECT_EQ(world.handler.requests().at(0).operation, Operation::EmptyCache);
}

}  // namespace
}  // namespace tidemark::control
