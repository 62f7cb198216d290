// Events, host functions, contexts.
#include <array>
#include <atomic>
#include <future>
#include <thread>

#include "simulator/core/scheduler.hpp"
#include "tests/simulator/core_world.hpp"

namespace sim {
namespace {

TEST(Event, StandsForTheWorkBeforeItWasRecorded) {
  World world;
  const Address block = world.zeroed();
  const StreamId stream = world.stream();
  const EventId event = world.event();
  EXPECT_EQ(world.scheduler.query_event(event), Status::Ok);

  world.fill(stream, block, 1);
  EXPECT_EQ(world.scheduler.record(event, stream), Status::Ok);
  world.fill(stream, block, 2);
  EXPECT_EQ(world.scheduler.query_event(event), Status::NotReady);

  EXPECT_EQ(world.scheduler.synchronize_event(event), Status::Ok);
  EXPECT_EQ(world.first_byte(block), 1);
  EXPECT_EQ(world.scheduler.query_event(event), Status::Ok);
}

TEST(Event, OrdersAnotherStreamBehindIt) {
  World world;
  const Address block = world.zeroed();
  const StreamId first = world.stream(StreamKind::NonBlocking);
  const StreamId second = world.stream(StreamKind::NonBlocking);
  const EventId event = world.event();

  world.fill(first, block, 1);
  world.scheduler.record(event, first);
  EXPECT_EQ(world.scheduler.wait_event(second, event), Status::Ok);
  world.fill(second, block, 2);
  world.scheduler.synchronize(second);

  EXPECT_EQ(world.first_byte(block), 2);
}

TEST(Event, KeepsWhatItStoodForWhenItIsRecordedAgain) {
  World world;
  const Address block = world.zeroed();
  const StreamId first = world.stream(StreamKind::NonBlocking);
  const StreamId second = world.stream(StreamKind::NonBlocking);
  const EventId event = world.event();

  world.fill(first, block, 1);
  world.scheduler.record(event, first);
  world.scheduler.wait_event(second, event);
  world.machine.submit(first, Kernel{.duration = 1000});
  world.scheduler.record(event, first);
  world.scheduler.synchronize(second);

  EXPECT_EQ(world.first_byte(block), 1);
  EXPECT_EQ(world.scheduler.query_event(event), Status::NotReady);
}

TEST(Event, MeasuresTicks) {
  World world;
  const EventId start = world.event();
  const EventId stop = world.event();
  std::int64_t ticks = 0;
  EXPECT_EQ(world.scheduler.elapsed(start, stop, ticks), Status::InvalidHandle);

  world.scheduler.record(start, world.default_stream());
  world.machine.submit(world.default_stream(), Kernel{.duration = 1234});
  world.scheduler.record(stop, world.default_stream());
  EXPECT_EQ(world.scheduler.elapsed(start, stop, ticks), Status::NotReady);
  world.scheduler.synchronize_event(stop);

  EXPECT_EQ(world.scheduler.elapsed(start, stop, ticks), Status::Ok);
  EXPECT_EQ(ticks, 1234);
}

TEST(Event, BelongsToItsContext) {
  World world;
  const ContextId other = world.machine.create_context(0);
  const EventId event = world.event();

  EXPECT_EQ(world.scheduler.record(event, world.scheduler.default_stream(other)), Status::InvalidHandle);
  EXPECT_EQ(world.scheduler.destroy_event(event), Status::Ok);
  EXPECT_EQ(world.scheduler.destroy_event(event), Status::InvalidHandle);
  EXPECT_EQ(world.scheduler.record(event, world.default_stream()), Status::InvalidHandle);
  EXPECT_EQ(world.scheduler.synchronize_event(event), Status::InvalidHandle);
}

TEST(Event, CanStandForAllWorkOfItsContext) {
  World world;
  const Address block = world.zeroed();
  const EventId event = world.event();
  world.fill(world.stream(StreamKind::NonBlocking), block, 1);
  world.fill(world.stream(), block + 1, 2, 1);

  EXPECT_EQ(world.scheduler.record_context(event, world.context), Status::Ok);
  EXPECT_EQ(world.scheduler.query_event(event), Status::NotReady);
  EXPECT_EQ(world.scheduler.synchronize_event(event), Status::Ok);

  EXPECT_EQ(world.first_byte(block), 1);
  EXPECT_EQ(world.first_byte(block + 1), 2);
}

TEST(Event, OfAContextCoversItsPartsAndThatOfAPartCoversThatAlone) {
  World world;
  const ContextId part = world.machine.create_part(world.context);
  const Address block = world.zeroed();
  const EventId of_whole = world.event();
  const EventId of_part = world.event();
  StreamId stream{};
  ASSERT_EQ(world.scheduler.create_stream(part, StreamKind::NonBlocking, stream), Status::Ok);
  world.fill(world.stream(StreamKind::NonBlocking), block, 1);

  EXPECT_EQ(world.scheduler.record_context(of_part, part), Status::Ok);
  EXPECT_EQ(world.scheduler.query_event(of_part), Status::Ok);
  world.fill(stream, block + 1, 2, 1);
  EXPECT_EQ(world.scheduler.record_context(of_whole, world.context), Status::Ok);
  EXPECT_EQ(world.scheduler.synchronize_event(of_whole), Status::Ok);
  EXPECT_EQ(world.first_byte(block + 1), 2);

  EXPECT_EQ(world.machine.destroy_context(part), Status::Ok);
  EXPECT_EQ(world.scheduler.query_event(of_part), Status::Ok) << "events are the whole's";
  EXPECT_EQ(world.scheduler.record_context(of_part, part), Status::InvalidHandle);
  EXPECT_EQ(world.scheduler.synchronize(stream), Status::InvalidHandle);
}

TEST(HostFunction, RunsAfterTheWorkBeforeItAndBeforeTheWorkBehindIt) {
  World world;
  struct Seen {
    World& world;
    Address block;
    int before = -1;
    bool in_host_function = false;
  } seen{world, world.zeroed()};
  const StreamId stream = world.stream();

  world.fill(stream, seen.block, 1);
  world.machine.submit(stream, HostFunction{[](void* data) {
                                              auto& here = *static_cast<Seen*>(data);
                                              here.before = here.world.first_byte(here.block);
                                              here.in_host_function = Scheduler::in_host_function();
                                            },
                                            &seen});
  world.fill(stream, seen.block, 2);
  EXPECT_EQ(world.scheduler.synchronize(stream), Status::Ok);

  EXPECT_EQ(seen.before, 1);
  EXPECT_TRUE(seen.in_host_function);
  EXPECT_FALSE(Scheduler::in_host_function());
  EXPECT_EQ(world.first_byte(seen.block), 2);
}

TEST(HostFunction, HoldsUpItsStreamAndNoOther) {
  World world;
  std::promise<void> go;
  auto may_go = go.get_future();
  const Address block = world.zeroed();
  const StreamId held_up = world.stream(StreamKind::NonBlocking);
  const StreamId other = world.stream(StreamKind::NonBlocking);

  world.machine.submit(held_up,
                       HostFunction{[](void* wait) { static_cast<std::future<void>*>(wait)->wait(); }, &may_go});
  world.fill(held_up, block, 1);
  world.fill(other, block, 2);
  world.scheduler.advance(1'000'000);
  EXPECT_EQ(world.first_byte(block), 2);
  EXPECT_EQ(world.scheduler.query(held_up), Status::NotReady);

  go.set_value();
  EXPECT_EQ(world.scheduler.synchronize(held_up), Status::Ok);
  EXPECT_EQ(world.first_byte(block), 1);
}

TEST(HostFunction, RunsWithoutAnotherCallIfTheClockIsAutomatic) {
  Machine machine{{.devices = 1, .memory_bytes = 1 << 20}};
  const ContextId context = machine.create_context(0);
  const StreamId stream = machine.scheduler().default_stream(context);
  std::promise<void> called;

  machine.submit(stream, Kernel{.duration = 1'000'000});
  machine.submit(stream,
                 HostFunction{[](void* data) { static_cast<std::promise<void>*>(data)->set_value(); }, &called});
  called.get_future().wait();

  EXPECT_EQ(machine.scheduler().synchronize(stream), Status::Ok);
  EXPECT_GE(machine.scheduler().now(), 1'000'000);
}

TEST(HostFunction, MustBeOne) {
  World world;

  EXPECT_EQ(world.machine.submit(world.default_stream(), HostFunction{}), Status::InvalidValue);
}

TEST(Context, TakesItsMemoryStreamsAndEventsWithIt) {
  World world;
  const Address block = world.zeroed();
  const StreamId stream = world.stream();
  const EventId event = world.event();
  world.fill(stream, block, 1);
  world.scheduler.record(event, stream);

  EXPECT_EQ(world.machine.destroy_context(world.context), Status::Ok);

  EXPECT_EQ(world.machine.memory(0).used(), 0);
  EXPECT_FALSE(world.scheduler.has_stream(stream));
  EXPECT_FALSE(world.scheduler.has_event(event));
  EXPECT_FALSE(world.scheduler.has_context(world.context));
  EXPECT_EQ(world.machine.device_of(world.context), -1);
  EXPECT_EQ(world.machine.destroy_context(world.context), Status::InvalidHandle);
  Address none = 0;
  EXPECT_EQ(world.machine.allocate(world.context, 1, none), Status::InvalidHandle);
}

TEST(Context, IsWaitedForAlone) {
  World world;
  const ContextId other = world.machine.create_context(0);
  world.machine.submit(world.default_stream(), Kernel{.duration = 10});
  world.machine.submit(world.scheduler.default_stream(other), Kernel{.duration = 1000});

  EXPECT_EQ(world.scheduler.synchronize_context(world.context), Status::Ok);

  EXPECT_EQ(world.scheduler.query_context(world.context), Status::Ok);
  EXPECT_EQ(world.scheduler.query_context(other), Status::NotReady);
  EXPECT_EQ(world.machine.synchronize_device(0), Status::Ok);
  EXPECT_EQ(world.scheduler.query_context(other), Status::Ok);
  EXPECT_TRUE(world.scheduler.is_idle());
}

TEST(Machine, TellsWhereAnAddressBelongs) {
  World world;
  const ContextId second = world.machine.create_context(1);
  Address there = 0;
  ASSERT_EQ(world.machine.allocate(second, 1000, there), Status::Ok);

  const Place place = world.machine.place(there + 10);
  EXPECT_EQ(place.device, 1);
  EXPECT_TRUE(place.live);
  EXPECT_EQ(place.allocation.base, there);
  EXPECT_EQ(place.allocation.owner, second);
  world.machine.release(there);
  EXPECT_EQ(world.machine.place(there).device, 1);
  EXPECT_FALSE(world.machine.place(there).live);
  EXPECT_EQ(world.machine.place(host(&place)).device, -1);
}

TEST(Machine, NamesItsDevicesAlikeInEveryProcessAndApartFromEachOther) {
  const Machine machine{{.devices = 2}};
  const Machine again{{.devices = 2}};

  EXPECT_EQ(machine.identity(0).name, "MTIA (simulated)");
  EXPECT_EQ(machine.identity(1).uuid, again.identity(1).uuid);
  EXPECT_NE(machine.identity(0).uuid, machine.identity(1).uuid);
}

TEST(Machine, ServesThreadsAtOnce) {
  Machine machine{{.devices = 2, .memory_bytes = std::uint64_t{1} << 30}};
  std::atomic<int> calls{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&machine, &calls, number] {
      const ContextId context = machine.create_context(number % 2);
      Scheduler& scheduler = machine.scheduler();
      StreamId stream{};
      scheduler.create_stream(context, StreamKind::Blocking, stream);
      for (int round = 0; round < 200; ++round) {
        Address block = 0;
        ASSERT_EQ(machine.allocate(context, 5000, block), Status::Ok);
        const auto pattern = static_cast<unsigned char>(number * 50 + round % 50);
        ASSERT_EQ(machine.submit(stream, Fill{.to = block, .value = pattern, .width = 5000}), Status::Ok);
        ASSERT_EQ(machine.submit(stream, HostFunction{[](void* n) { ++*static_cast<std::atomic<int>*>(n); }, &calls}),
                  Status::Ok);
        std::array<unsigned char, 5000> back{};
        ASSERT_EQ(machine.submit(stream, Copy{.to = host(back.data()), .from = block, .width = 5000}), Status::Ok);
        scheduler.tick();
        ASSERT_EQ(scheduler.synchronize(stream), Status::Ok);
        EXPECT_EQ(back[0], pattern);
        EXPECT_EQ(back[4999], pattern);
        ASSERT_EQ(machine.release(block), Status::Ok);
      }
      EXPECT_EQ(machine.destroy_context(context), Status::Ok);
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(calls, 800);
  EXPECT_EQ(machine.memory(0).used() + machine.memory(1).used(), 0);
}

}  // namespace
}  // namespace sim
