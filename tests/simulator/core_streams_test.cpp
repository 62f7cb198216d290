// Order of work in streams, between them, and with the default stream.
#include <array>

#include "simulator/core/scheduler.hpp"
#include "tests/simulator/core_world.hpp"

namespace sim {
namespace {

TEST(Stream, DoesNothingUntilTheClockPassesTheEndOfTheWork) {
  World world;
  const Address block = world.zeroed();
  const StreamId stream = world.stream();

  world.fill(stream, block, 7);
  world.scheduler.advance(duration_of(Fill{}) - 1);
  EXPECT_EQ(world.first_byte(block), 0);
  EXPECT_EQ(world.scheduler.query(stream), Status::NotReady);

  world.scheduler.advance(1);
  EXPECT_EQ(world.first_byte(block), 7);
  EXPECT_EQ(world.scheduler.query(stream), Status::Ok);
}

TEST(Stream, KeepsTheOrderOfItsWork) {
  World world;
  const Address block = world.zeroed();
  const StreamId stream = world.stream();

  for (unsigned char value = 1; value <= 3; ++value) world.fill(stream, block, value);
  world.scheduler.advance(2 * duration_of(Fill{}));
  EXPECT_EQ(world.first_byte(block), 2);

  EXPECT_EQ(world.scheduler.synchronize(stream), Status::Ok);
  EXPECT_EQ(world.first_byte(block), 3);
}

TEST(Stream, TicksWithEveryCallIfTheClockIsAutomatic) {
  Machine machine{{.devices = 1, .memory_bytes = 1 << 20}};
  const ContextId context = machine.create_context(0);
  const StreamId stream = machine.scheduler().default_stream(context);

  machine.submit(stream, Kernel{.duration = 3});
  machine.scheduler().tick();
  machine.scheduler().tick();
  EXPECT_EQ(machine.scheduler().query(stream), Status::NotReady);

  machine.scheduler().tick();
  EXPECT_EQ(machine.scheduler().query(stream), Status::Ok);
}

TEST(Stream, DoesNotTickIfTheClockIsManual) {
  World world;
  world.machine.submit(world.default_stream(), Kernel{.duration = 1});

  for (int i = 0; i < 100; ++i) world.scheduler.tick();

  EXPECT_EQ(world.scheduler.query(world.default_stream()), Status::NotReady);
  EXPECT_EQ(world.scheduler.now(), 0);
}

TEST(Stream, IsCompletedByAWaitBeforeOthersThatWereEarlier) {
  World world;
  const Address block = world.zeroed();
  const StreamId late = world.stream();
  const StreamId waited_for = world.stream();

  world.fill(late, block, 1);
  world.fill(waited_for, block, 2);
  EXPECT_EQ(world.scheduler.synchronize(waited_for), Status::Ok);

  // Without order between them the earlier one may come last, and does.
  EXPECT_EQ(world.first_byte(block), 1);
}

TEST(Stream, FindsABlockThatWasHandedOutTooEarly) {
  World world;
  const Address freed = world.zeroed();
  const StreamId late = world.stream();
  world.fill(late, freed, 1);
  EXPECT_EQ(world.machine.release(freed), Status::Ok);  // without the wait that a driver's free has
  const Address reused = world.block();
  ASSERT_EQ(reused, freed);

  const std::array<unsigned char, 4096> stored{2};
  const StreamId storing = world.stream(StreamKind::NonBlocking);
  world.copy(storing, reused, host(stored.data()));
  EXPECT_EQ(world.scheduler.synchronize(storing), Status::Ok);

  EXPECT_EQ(world.first_byte(reused), 1);
}

TEST(Stream, ReportsWorkOnMemoryThatIsGoneUntilTheContextIs) {
  World world;
  const Address freed = world.zeroed();
  world.fill(world.default_stream(), freed, 1);
  EXPECT_EQ(world.machine.release(freed), Status::Ok);

  EXPECT_EQ(world.scheduler.synchronize(world.default_stream()), Status::IllegalAddress);
  EXPECT_EQ(world.scheduler.query(world.default_stream()), Status::IllegalAddress);
  EXPECT_EQ(world.fill(world.default_stream(), world.block(), 1), Status::IllegalAddress);
  EXPECT_EQ(world.machine.synchronize_device(0), Status::IllegalAddress);

  const ContextId healthy = world.machine.create_context(0);
  EXPECT_EQ(world.scheduler.synchronize_context(healthy), Status::Ok);
  EXPECT_EQ(world.machine.destroy_context(world.context), Status::Ok);
  EXPECT_EQ(world.machine.synchronize_device(0), Status::Ok);
}

TEST(Stream, PoisonsABlockThatIsFreedUnderWork) {
  World world;
  const Address freed = world.zeroed();
  const Address result = world.zeroed();
  world.copy(world.default_stream(), result, freed);

  EXPECT_EQ(world.machine.release(freed), Status::Ok);
  ASSERT_EQ(world.block(), freed);
  EXPECT_EQ(world.scheduler.synchronize(world.default_stream()), Status::Ok);

  EXPECT_EQ(world.first_byte(result), std::to_integer<unsigned char>(kPoison));
}

TEST(Stream, KnowsWhatItsWorkUses) {
  World world;
  const Address first = world.zeroed();
  const Address second = world.zeroed();
  EXPECT_FALSE(world.scheduler.uses(first, 4096));

  world.copy(world.default_stream(), first, second, 1024);

  EXPECT_TRUE(world.scheduler.uses(first + 1000, 4096));
  EXPECT_TRUE(world.scheduler.uses(second, 1));
  EXPECT_FALSE(world.scheduler.uses(first + 1024, 4096 - 1024));
}

TEST(Stream, HasRoomFor1024PiecesAndThenWaitsForTheOldest) {
  World world;
  const Address block = world.zeroed();
  const StreamId stream = world.stream();

  world.fill(stream, block, 1);
  for (int i = 1; i < 1024; ++i) world.machine.submit(stream, Kernel{.duration = 1});
  EXPECT_EQ(world.first_byte(block), 0);
  world.machine.submit(stream, Kernel{.duration = 1});

  EXPECT_EQ(world.first_byte(block), 1);
  EXPECT_EQ(world.scheduler.query(stream), Status::NotReady);
}

TEST(Stream, FinishesItsWorkAfterItIsDestroyed) {
  World world;
  const Address block = world.zeroed();
  const StreamId stream = world.stream();
  world.fill(stream, block, 1);

  EXPECT_EQ(world.scheduler.destroy_stream(stream), Status::Ok);
  EXPECT_EQ(world.scheduler.synchronize(stream), Status::InvalidHandle);
  EXPECT_EQ(world.fill(stream, block, 2), Status::InvalidHandle);
  EXPECT_EQ(world.first_byte(block), 0);

  EXPECT_EQ(world.scheduler.synchronize_context(world.context), Status::Ok);
  EXPECT_EQ(world.first_byte(block), 1);
}

TEST(DefaultStream, WaitsForBlockingStreams) {
  World world;
  const Address block = world.zeroed();

  world.fill(world.stream(), block, 1);
  world.fill(world.stream(), block + 1, 1, 1);
  world.fill(world.default_stream(), block, 2);
  world.scheduler.synchronize(world.default_stream());

  EXPECT_EQ(world.first_byte(block), 2);
  EXPECT_EQ(world.first_byte(block + 1), 2);
}

TEST(DefaultStream, IsWaitedForByBlockingStreams) {
  World world;
  const Address block = world.zeroed();
  const StreamId blocking = world.stream();

  world.fill(world.default_stream(), block, 1);
  world.fill(blocking, block, 2);
  world.scheduler.synchronize(blocking);

  EXPECT_EQ(world.first_byte(block), 2);
  EXPECT_EQ(world.scheduler.query(world.default_stream()), Status::Ok);
}

TEST(DefaultStream, HasNoOrderWithNonBlockingStreams) {
  World world;
  const Address block = world.zeroed();
  const StreamId free_running = world.stream(StreamKind::NonBlocking);

  world.fill(world.default_stream(), block, 1);
  world.fill(free_running, block, 2);
  world.scheduler.synchronize(free_running);

  // The wait didn't need the default stream's work, which therefore came after.
  EXPECT_EQ(world.first_byte(block), 1);
}

TEST(DefaultStream, HasNoOrderWithStreamsOfAnotherContext) {
  World world;
  const ContextId other = world.machine.create_context(0);
  const Address block = world.zeroed();
  const StreamId theirs = world.scheduler.default_stream(other);

  world.fill(world.default_stream(), block, 1);
  world.fill(theirs, block, 2);
  world.scheduler.synchronize(theirs);

  EXPECT_EQ(world.first_byte(block), 1);
}

TEST(DefaultStream, CannotBeDestroyed) {
  World world;

  EXPECT_EQ(world.scheduler.destroy_stream(world.default_stream()), Status::InvalidHandle);
}

TEST(Copy, ReadsHostMemoryAtOnceOrWhenItCompletes) {
  World world;
  const Address staged = world.zeroed();
  const Address late = world.zeroed();
  unsigned char source = 1;

  world.machine.submit(world.default_stream(), Copy{.to = staged, .from = host(&source), .width = 1});
  world.machine.submit(world.default_stream(),
                       Copy{.to = late, .from = host(&source), .width = 1, .host_source = HostSource::Late});
  source = 2;
  world.scheduler.synchronize(world.default_stream());

  EXPECT_EQ(world.first_byte(staged), 1);
  EXPECT_EQ(world.first_byte(late), 2);
}

TEST(Copy, MovesRowsWithTheirPitches) {
  World world;
  const Address block = world.zeroed();
  const std::array<unsigned char, 6> rows{1, 2, 9, 3, 4, 9};
  std::array<unsigned char, 4> back{};

  world.machine.submit(
      world.default_stream(),
      Copy{.to = block, .from = host(rows.data()), .width = 2, .height = 2, .to_pitch = 100, .from_pitch = 3});
  world.machine.submit(
      world.default_stream(),
      Copy{.to = host(back.data()), .from = block, .width = 2, .height = 2, .to_pitch = 2, .from_pitch = 100});
  world.scheduler.synchronize(world.default_stream());

  EXPECT_EQ(back, (std::array<unsigned char, 4>{1, 2, 3, 4}));
}

TEST(Copy, RefusesWhatIsOutOfBounds) {
  World world;
  const Address block = world.block(1000);
  const Address gone = world.block(1000);
  world.machine.release(gone);
  std::array<unsigned char, 2000> bytes{};
  const auto try_copy = [&](Address to, Address from, std::uint64_t size) {
    return world.copy(world.default_stream(), to, from, size);
  };

  EXPECT_EQ(try_copy(block, host(bytes.data()), 1001), Status::InvalidValue);
  EXPECT_EQ(try_copy(host(bytes.data()), block + 1, 1000), Status::InvalidValue);
  EXPECT_EQ(try_copy(gone, host(bytes.data()), 1), Status::InvalidValue);
  EXPECT_EQ(try_copy(block, 0, 1), Status::InvalidValue);
  EXPECT_EQ(try_copy(gone, 0, 0), Status::Ok);
  EXPECT_EQ(world.machine.submit(world.default_stream(), Copy{.to = block,
                                                              .from = host(bytes.data()),
                                                              .width = 100,
                                                              .height = ~std::uint64_t{0} / 50,
                                                              .to_pitch = 100,
                                                              .from_pitch = 100}),
            Status::InvalidValue);
  EXPECT_EQ(
      world.machine.submit(
          world.default_stream(),
          Copy{.to = block, .from = host(bytes.data()), .width = 10, .height = 2, .to_pitch = 9, .from_pitch = 10}),
      Status::InvalidValue);
}

TEST(Fill, RepeatsElementsInRows) {
  World world;
  const Address block = world.zeroed();
  std::array<unsigned char, 12> back{};

  world.machine.submit(world.default_stream(),
                       Fill{.to = block, .value = 0x0201, .element = 2, .width = 4, .height = 2, .pitch = 8});
  world.copy(world.default_stream(), host(back.data()), block, back.size());
  world.scheduler.synchronize(world.default_stream());

  EXPECT_EQ(back, (std::array<unsigned char, 12>{1, 2, 1, 2, 0, 0, 0, 0, 1, 2, 1, 2}));
}

TEST(Fill, RefusesHostMemoryAndOddWidths) {
  World world;
  const Address block = world.block(1000);
  int variable = 0;

  EXPECT_EQ(world.fill(world.default_stream(), host(&variable), 1, 4), Status::InvalidValue);
  EXPECT_EQ(world.machine.submit(world.default_stream(), Fill{.to = block, .element = 4, .width = 6}),
            Status::InvalidValue);
  EXPECT_EQ(world.machine.submit(world.default_stream(), Fill{.to = block, .element = 3, .width = 6}),
            Status::InvalidValue);
}

}  // namespace
}  // namespace sim
