// Requests from post to outcome, driven step by step in one process; and with a service thread where waiting is the
// point.
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
using segment::ControlPolicy;
using segment::SegmentReader;
using test::ControlWorld;
using test::record_of;
using test::Service;
using test::write_record;

TEST(Control, CarriesARequestThereAndItsAnswerBack) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ControlClient client = ControlClient::open(reader).value();
  world.handler.answer_with(AckStatus::Done, "8 MiB given back");

  ASSERT_TRUE(client.post({.operation = Operation::EmptyCache, .device = 3, .arguments = {1, 2, 3, 4}}).ok());
  EXPECT_EQ(world.host.poll(), 1u);
  const Outcome outcome = client.wait(0ns);

  EXPECT_EQ(outcome.kind, OutcomeKind::Done);
  EXPECT_EQ(outcome.status, AckStatus::Done);
  EXPECT_EQ(outcome.detail, "8 MiB given back");
  EXPECT_EQ(outcome.results[3], 4u);
  const auto seen = world.handler.requests();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].operation, Operation::EmptyCache);
  EXPECT_EQ(seen[0].device, 3u);
  EXPECT_EQ(seen[0].client_pid, static_cast<std::uint32_t>(::getpid()));
}

TEST(Control, WorksThroughTheServiceThread) {
  ControlWorld world;
  const Service service{world.host};
  const SegmentReader reader = world.reader();
  ControlClient client = ControlClient::open(reader).value();

  for (std::uint64_t i = 0; i < 50; ++i) {
    const Outcome outcome = client.request({.operation = Operation::Ping, .arguments = {i}}, 60s);
    ASSERT_EQ(outcome.kind, OutcomeKind::Done) << i;
    ASSERT_EQ(outcome.results[0], i);
  }
}

TEST(Control, CountsWhatItDidAndRefused) {
  ControlWorld world{ControlPolicy::Peaks};
  const SegmentReader reader = world.reader();
  ControlClient client = ControlClient::open(reader).value();
  for (const Operation operation : {Operation::ResetPeak, Operation::EmptyCache}) {
    ASSERT_TRUE(client.post({.operation = operation}).ok());
    world.host.poll();
  }
  write_record(world, 20, [] {
    RequestRecord torn = record_of(1);
    torn.arguments[2] = 1;
    return torn;
  }());
  world.host.poll();
  world.host.poll();  // the same torn record again is not counted again

  const segment::ProcessGlobals globals = reader.globals();

  EXPECT_EQ(globals.requests_done, 1u);
  EXPECT_EQ(globals.requests_refused, 1u);
  EXPECT_EQ(globals.requests_ignored, 1u);
}

TEST(Policy, DecidesWhichRequestsAreObeyed) {
  struct Case {
    ControlPolicy policy;
    Operation operation;
    OutcomeKind expected;
  };
  for (const auto& [policy, operation, expected] : {
           Case{ControlPolicy::Full, Operation::SetLimit, OutcomeKind::Done},
           Case{ControlPolicy::Full, Operation::RecordStart, OutcomeKind::Done},
           Case{ControlPolicy::Peaks, Operation::ResetPeak, OutcomeKind::Done},
           Case{ControlPolicy::Peaks, Operation::Snapshot, OutcomeKind::Done},
           Case{ControlPolicy::Peaks, Operation::BeginPeak, OutcomeKind::Done},
           Case{ControlPolicy::Peaks, Operation::ReadPeak, OutcomeKind::Done},
           Case{ControlPolicy::Peaks, Operation::ResetAccumulated, OutcomeKind::Refused},
           Case{ControlPolicy::Peaks, Operation::EmptyCache, OutcomeKind::Refused},
           Case{ControlPolicy::Peaks, Operation::ClearLimit, OutcomeKind::Refused},
           Case{ControlPolicy::Peaks, Operation::RecordStop, OutcomeKind::Refused},
           Case{ControlPolicy::Off, Operation::Ping, OutcomeKind::Done},
           Case{ControlPolicy::Off, Operation::ResetPeak, OutcomeKind::Refused},
           Case{ControlPolicy::Off, Operation::BeginPeak, OutcomeKind::Refused},
       }) {
    ControlWorld world{policy};
    const SegmentReader reader = world.reader();
    ControlClient client = ControlClient::open(reader).value();
    ASSERT_TRUE(client.post({.operation = operation}).ok());
    world.host.poll();

    const Outcome outcome = client.wait(0ns);

    EXPECT_EQ(outcome.kind, expected) << to_text(policy) << " " << to_text(operation);
    EXPECT_EQ(world.handler.requests().size(), expected == OutcomeKind::Done ? 1u : 0u);
    EXPECT_EQ(outcome.detail.find("TIDEMARK_CONTROL") != std::string::npos, expected == OutcomeKind::Refused);
    EXPECT_EQ(reader.globals().control_policy, policy);
  }
}

TEST(Control, RefusesWhatItDoesNotKnow) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ControlClient client = ControlClient::open(reader).value();
  const auto outcome_of = [&](const Order& order) {
    EXPECT_TRUE(client.post(order).ok());
    world.host.poll();
    return client.wait(0ns);
  };

  EXPECT_EQ(outcome_of({.operation = static_cast<Operation>(4711)}).status, AckStatus::Refused);
  EXPECT_EQ(outcome_of({.operation = Operation::ResetPeak, .device = 16}).status, AckStatus::Invalid);
  EXPECT_TRUE(world.handler.requests().empty());
  EXPECT_EQ(outcome_of({.operation = Operation::ResetPeak, .device = 15}).status, AckStatus::Done);
  EXPECT_EQ(outcome_of({.operation = Operation::ResetPeak, .device = kAllDevices}).status, AckStatus::Done);
}

TEST(Control, DoesNotBeginWhatNobodyWaitsForAnyMore) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  {
    ControlClient killed = ControlClient::open(reader).value();
    ASSERT_TRUE(killed.post({.operation = Operation::ResetPeak}).ok());
  }

  world.host.poll();

  EXPECT_TRUE(world.handler.requests().empty());
  EXPECT_EQ(reader.acknowledgement(0).value().status, AckStatus::Refused);
}

// Deadlines were times of CLOCK_REALTIME: with a clock set forward, every request came too late.
TEST(Control, AsksNoClockWhetherARequestIsStillWanted) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  const ControlClient waiting = ControlClient::open(reader).value();
  RequestRecord record = record_of(1);
  record.awaited = 1;  // a nanosecond into 1970
  record.checksum = checksum_of(record);
  write_record(world, waiting.slot(), record);

  world.host.poll();

  EXPECT_EQ(world.handler.requests().size(), 1u);
  EXPECT_EQ(reader.acknowledgement(waiting.slot()).value().status, AckStatus::Done);
}

TEST(Control, TellsTheHandlersFailure) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ControlClient client = ControlClient::open(reader).value();
  for (const AckStatus status : {AckStatus::Failed, AckStatus::Invalid, AckStatus::Refused, AckStatus::None}) {
    world.handler.answer_with(status, "no such device");
    ASSERT_TRUE(client.post({.operation = Operation::SetLimit}).ok());
    world.host.poll();

    const Outcome outcome = client.wait(0ns);

    EXPECT_EQ(outcome.kind, OutcomeKind::Refused);
    EXPECT_EQ(outcome.status, status == AckStatus::None ? AckStatus::Failed : status);
    EXPECT_EQ(outcome.detail, "no such device");
  }
}

TEST(Tickets, RunAtMostOnce) {
  ControlWorld world;
  write_record(world, 5, record_of(1));

  EXPECT_EQ(world.host.poll(), 1u);
  EXPECT_EQ(world.host.poll(), 0u) << "still there, already done";
  write_record(world, 5, record_of(2));
  EXPECT_EQ(world.host.poll(), 1u);
  write_record(world, 5, record_of(1));
  EXPECT_EQ(world.host.poll(), 0u) << "an old one, written again";
  write_record(world, 5, record_of(2 + kMaxTicketJump + 1));
  EXPECT_EQ(world.host.poll(), 0u) << "no honest viewer is that far ahead";
  write_record(world, 5, record_of(3));
  EXPECT_EQ(world.host.poll(), 1u);

  EXPECT_EQ(world.handler.requests().size(), 3u);
}

TEST(Tickets, WithoutTheirChecksumAreNotRequests) {
  ControlWorld world;
  const RequestRecord whole = record_of(1);
  for (std::size_t byte = 0; byte < sizeof whole; ++byte) {
    RequestRecord damaged = whole;
    reinterpret_cast<unsigned char*>(&damaged)[byte] ^= 0x10;
    write_record(world, 0, damaged);
    ASSERT_EQ(world.host.poll(), 0u) << byte;
  }

  write_record(world, 0, whole);
  EXPECT_EQ(world.host.poll(), 1u);
}

TEST(Tickets, GoOnWhereTheFormerViewerStopped) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  {
    ControlClient former = ControlClient::open(reader).value();
    ASSERT_EQ(former.slot(), 0u);
    ASSERT_TRUE(former.post({.operation = Operation::Ping}).ok());
    world.host.poll();
    // Posted and never seen: the viewer dies, the next one overwrites it.
    ASSERT_TRUE(former.post({.operation = Operation::SetLimit}).ok());
  }
  ControlClient next = ControlClient::open(reader).value();
  ASSERT_EQ(next.slot(), 0u);

  ASSERT_TRUE(next.post({.operation = Operation::ResetPeak}).ok());
  EXPECT_EQ(world.host.poll(), 1u);

  EXPECT_EQ(next.wait(0ns).kind, OutcomeKind::Done);
  EXPECT_EQ(world.handler.requests().back().ticket, 3u);
  EXPECT_EQ(world.handler.requests().back().operation, Operation::ResetPeak);
}

TEST(Tickets, SurviveGarbageLeftInTheSlot) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  write_record(world, 0, record_of(UINT64_MAX));  // whole, and absurd
  ControlClient client = ControlClient::open(reader).value();

  ASSERT_TRUE(client.post({.operation = Operation::Ping}).ok());
  world.host.poll();

  EXPECT_EQ(client.wait(0ns).kind, OutcomeKind::Done);
}

TEST(Slots, AreHeldByOneViewerEach) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  std::vector<ControlClient> clients;
  for (std::uint32_t i = 0; i < kRequestSlots; ++i) {
    clients.push_back(ControlClient::open(reader).value());
    EXPECT_EQ(clients.back().slot(), i);
  }

  EXPECT_EQ(ControlClient::open(reader).error().code, ErrorCode::Timeout);

  clients.erase(clients.begin() + 7);
  EXPECT_EQ(ControlClient::open(reader).value().slot(), 7u);
}

TEST(Slots, AreWaitedForWhileAllAreTaken) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  std::vector<ControlClient> clients;
  for (std::uint32_t i = 0; i < kRequestSlots; ++i) {
    clients.push_back(ControlClient::open(reader).value());
  }
  Result<std::uint32_t> slot = Error{ErrorCode::System};

  std::thread next{[&] {
    const Result<ControlClient> client = ControlClient::open(reader, 60s);
    slot = client ? Result<std::uint32_t>{client.value().slot()} : Result<std::uint32_t>{client.error()};
  }};
  clients.erase(clients.begin() + 7);
  next.join();

  ASSERT_TRUE(slot.ok());
  EXPECT_EQ(slot.value(), 7u);
}

TEST(Slots, AreServedTogether) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ControlClient first = ControlClient::open(reader).value();
  ControlClient second = ControlClient::open(reader).value();
  ASSERT_TRUE(first.post({.operation = Operation::Ping, .arguments = {1}}).ok());
  ASSERT_TRUE(second.post({.operation = Operation::Ping, .arguments = {2}}).ok());

  EXPECT_EQ(world.host.poll(), 2u);

  EXPECT_EQ(first.wait(0ns).results[0], 1u);
  EXPECT_EQ(second.wait(0ns).results[0], 2u);
}

TEST(Deferred, IsParkedUntilItIsComplete) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ControlClient client = ControlClient::open(reader).value();
  world.handler.answer_with(AckStatus::Deferred, "waits for the program's next call");
  ASSERT_TRUE(client.post({.operation = Operation::EmptyCache}).ok());
  world.host.poll();

  const Outcome parked = client.wait(0ns);
  EXPECT_EQ(parked.kind, OutcomeKind::Deferred);
  EXPECT_EQ(parked.detail, "waits for the program's next call");

  world.host.complete(world.handler.requests().at(0), {.status = AckStatus::Done, .detail = "done", .results = {9}});
  const Outcome done = client.wait(0ns);
  EXPECT_EQ(done.kind, OutcomeKind::Done);
  EXPECT_EQ(done.results[0], 9u);
}

// The program's call can come between the handler's decision and its acknowledgement.
TEST(Deferred, MayBeCompleteBeforeItIsAcknowledged) {
  struct Hasty : RequestHandler {
    Answer handle(const Request& request) noexcept override {
      host->complete(request, {});
      return {.status = AckStatus::Deferred, .detail = {}, .results = {}};
    }
    ControlHost* host = nullptr;
  };
  const test::TemporaryDirectory directory;
  segment::WriterOptions options = test::options_in(directory);
  options.control = &companion_file();
  auto writer = segment::SegmentWriter::create(options).value();
  Hasty handler;
  ControlHost host{writer, handler, ControlPolicy::Full};
  handler.host = &host;
  const SegmentReader reader = SegmentReader::open(writer.path()).value();
  ControlClient client = ControlClient::open(reader).value();
  ASSERT_TRUE(client.post({.operation = Operation::EmptyCache}).ok());

  host.poll();

  EXPECT_EQ(client.wait(0ns).kind, OutcomeKind::Done);
}

TEST(Deferred, DoesNotDisturbTheSlotsNextRequest) {
  ControlWorld world;
  const SegmentReader reader = world.reader();
  ControlClient client = ControlClient::open(reader).value();
  world.handler.answer_with(AckStatus::Deferred);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(client.post({.operation = Operation::EmptyCache}).ok());
    world.host.poll();
  }

  world.host.complete(world.handler.requests().at(0), {.detail = "the old one"});
  EXPECT_EQ(client.wait(0ns).kind, OutcomeKind::Deferred);

  world.host.complete(world.handler.requests().at(1), {.detail = "the new one"});
  EXPECT_EQ(client.wait(0ns).detail, "the new one");
}

}  // namespace
}  // namespace tidemark::control
