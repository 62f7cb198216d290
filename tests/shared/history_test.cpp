// What a host writes into its history, a viewer reads.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <span>
#include <string>
#include <vector>

#include "shared/history/snapshot_image.hpp"
#include "shared/segment/enumerate.hpp"
#include "tests/shared/history_world.hpp"
#include "tests/support/history_check.hpp"

namespace tidemark::test {
namespace {

using history::Action;
using history::BlockState;

TEST(History, LiesBesideItsSegmentAndSaysWhatIsRecorded) {
  HistoryWorld world{{.enabled = history::Enabled::State, .stacks = history::Stacks::Cpp, .max_entries = 64}};
  const auto segment = segment::SegmentReader::open(world.segment().path());

  const auto reader = history::HistoryReader::beside(segment.value());

  ASSERT_TRUE(reader.ok());
  const history::Recording recording = reader.value().recording();
  EXPECT_EQ(recording.kind, history::Kind::Live);
  EXPECT_EQ(recording.nonce, world.segment().nonce());
  EXPECT_EQ(recording.pid, ::getpid());
  EXPECT_EQ(recording.enabled, history::Enabled::State);
  EXPECT_EQ(recording.stacks, history::Stacks::Cpp);
  EXPECT_EQ(recording.max_entries, 64U);
  EXPECT_EQ(recording.since_ns, world.writer().start_realtime_ns());
  EXPECT_EQ(recording.lost, 0U);
}

TEST(History, IsNoBodysButItsOwnersAndAsReadableAsItsSegment) {
  HistoryWorld world;
  struct stat info {};

  ASSERT_EQ(::stat(world.path().c_str(), &info), 0);

  EXPECT_EQ(info.st_mode & 07777U, 0400U);
  world.device();  // for which the file grows
  ASSERT_EQ(::stat(world.path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777U, 0400U);
  EXPECT_EQ(static_cast<std::uint64_t>(info.st_size), history::history_bytes(world.writer().settings(), 1));
}

TEST(History, TellsEventsInOrderWithAllTheirWords) {
  HistoryWorld world;
  world.device().make_segment();
  world.device().allocate();

  const history::Device device = world.read().devices.at(0);

  EXPECT_EQ(device.slot, 3U);
  EXPECT_EQ(device.info.name.view(), "MTIA (simulated)");
  EXPECT_EQ(device.info.ordinal, 0U);
  ASSERT_EQ(device.events.size(), 2U);
  EXPECT_EQ(device.events[0].action, Action::SegmentAlloc);
  EXPECT_EQ(device.events[0].size, 2 * kMiB);
  EXPECT_EQ(device.events[1].action, Action::Alloc);
  EXPECT_EQ(device.events[1].address, SmallDevice::kBase);
  EXPECT_EQ(device.events[1].size, 1024U);
  EXPECT_EQ(device.events[1].requested, 1000U);
  const std::uint64_t start = world.writer().start_realtime_ns() - world.writer().start_monotonic_ns();
  EXPECT_EQ(device.events[1].time_ns, start + 1'000'002);
}

TEST(History, TilesEachSegmentWithItsBlocks) {
  HistoryWorld world;
  world.device().make_segment();
  world.device().allocate();

  const history::Device device = world.read().devices.at(0);

  ASSERT_EQ(device.segments.size(), 1U);
  const history::Segment& segment = device.segments[0];
  EXPECT_EQ(segment.size, 2 * kMiB);
  EXPECT_EQ(segment.context, 5U);
  ASSERT_EQ(segment.blocks.size(), 2U);
  EXPECT_EQ(segment.blocks[0].state, BlockState::Allocated);
  EXPECT_EQ(segment.blocks[0].requested, 1000U);
  EXPECT_FALSE(segment.blocks[0].is_older);
  EXPECT_EQ(segment.blocks[1].state, BlockState::Inactive);
  EXPECT_EQ(segment.blocks[1].size, 2 * kMiB - 1024);
  EXPECT_EQ(what_is_wrong(device), "");
}

TEST(History, KeepsTheLastEventsAndCountsTheOthersAsLost) {
  HistoryWorld world{{.max_entries = 10}};
  world.device().make_segment();
  for (int i = 0; i < 20; ++i) {
    world.device().allocate();
    world.device().free();
  }

  const history::History history = world.read();

  const history::Device& device = history.devices.at(0);
  ASSERT_EQ(device.events.size(), 10U);
  EXPECT_EQ(device.events.front().number, 51U);
  EXPECT_EQ(device.events.back().number, 60U);
  EXPECT_EQ(device.events_ever, 61U);
  EXPECT_EQ(history.recording.lost, 51U);
  EXPECT_EQ(what_is_wrong(device), "");
}

TEST(History, OfTheStateAloneHasBlocksAndNoEvents) {
  HistoryWorld world{{.enabled = history::Enabled::State, .max_entries = 10}};
  world.device().make_segment();
  world.device().allocate();

  const history::History history = world.read();

  EXPECT_TRUE(history.devices.at(0).events.empty());
  EXPECT_EQ(history.devices.at(0).segments.at(0).blocks.size(), 2U);
  EXPECT_EQ(history.recording.lost, 0U);
}

TEST(History, ForgetsASegmentWithAllItsBlocksAtOnce) {
  HistoryWorld world;
  world.device().make_segment();
  world.device().allocate();
  world.device().free();

  world.device().free_segment();

  EXPECT_TRUE(world.read().devices.at(0).segments.empty());
}

// The entries of an earlier segment's blocks stay in the table; the next segment has its number.
TEST(History, DoesNotTakeAnEarlierSegmentsBlocksForALaterOnes) {
  HistoryWorld world;
  world.device().make_segment();
  world.device().allocate();
  history::Changes changes;
  changes.segment(1, {.address = 0x9000, .size = 4096, .serial = 8});
  history::BlockWords whole = SmallDevice::block(0x9000, 4096, BlockState::Inactive);
  whole.segment_serial = 8;
  changes.block(5, whole);
  world.device().writer().record({.action = Action::SegmentAlloc, .address = 0x9000, .size = 4096}, changes);

  const history::Device device = world.read().devices.at(0);

  ASSERT_EQ(device.segments.size(), 1U);
  ASSERT_EQ(device.segments[0].blocks.size(), 1U);
  EXPECT_EQ(device.segments[0].blocks[0].address, 0x9000U);
}

TEST(History, SaysWhereBlocksFoundNoPlaceInTheTable) {
  HistoryWorld world;
  world.device().make_segment();
  history::Changes changes;
  changes.block(100'000, SmallDevice::block(SmallDevice::kBase, 512, BlockState::Allocated));
  changes.block(1, SmallDevice::block(SmallDevice::kBase + 512, 2 * kMiB - 512, BlockState::Inactive));
  world.device().writer().record({.action = Action::Alloc, .address = SmallDevice::kBase, .size = 512}, changes);

  const history::History history = world.read();

  const history::Device& device = history.devices.at(0);
  EXPECT_EQ(device.changes_lost, 1U);
  EXPECT_EQ(history.recording.lost, 1U);
  EXPECT_FALSE(device.is_approximate);
  ASSERT_EQ(device.segments.at(0).blocks.size(), 2U);
  EXPECT_EQ(device.segments[0].blocks[0].state, BlockState::Unknown);
  EXPECT_EQ(device.segments[0].blocks[0].size, 512U);
}

TEST(History, KnowsTheAgeOfAnOlderBlockByItsBeat) {
  HistoryWorld world;
  history::DeviceWriter writer = world.writer().add_device().value();
  writer.describe(sample_device(), 0, 0);
  writer.put(1, history::SegmentWords{.address = 0x1000, .size = 1024, .serial = 1});
  history::BlockWords old = SmallDevice::block(0x1000, 1024, BlockState::Allocated);
  old.segment_serial = 1;
  old.birth_beat = 40;
  writer.put(1, old);
  writer.open();
  const std::uint64_t now = world.writer().start_monotonic_ns() + 5'000'000'000;

  EXPECT_FALSE(world.read().devices.at(0).segments.at(0).blocks.at(0).birth_ns.has_value());
  world.writer().set_beat(100, now);

  const history::Block block = world.read().devices.at(0).segments.at(0).blocks.at(0);
  EXPECT_TRUE(block.is_older);
  EXPECT_EQ(block.birth_ns, world.writer().start_realtime_ns() + 5'000'000'000 - 60'000'000'000);
}

TEST(History, HasEachStackOnce) {
  HistoryWorld world{{.stacks = history::Stacks::All, .max_entries = 64}};
  history::ProcessTables& tables = world.writer().tables();
  const std::array<std::uint64_t, 3> addresses{0x1111, 0x2222, 0x3333};
  const history::PythonFrame frame{
      .name = tables.intern_string("train"), .file = tables.intern_string("train.py"), .line = 12};

  const history::KeptStack first = tables.intern_stack({.addresses = addresses}, 5);
  const history::StackId native = first.number;
  const history::StackId both = tables.intern_stack({.addresses = addresses, .python = {&frame, 1}}, 6).number;
  const history::KeptStack again = tables.intern_stack({.addresses = addresses}, 7);

  EXPECT_TRUE(first.is_new);
  EXPECT_FALSE(again.is_new);
  EXPECT_EQ(again.number, native);
  EXPECT_NE(both, native);
  const history::History history = world.read();
  ASSERT_EQ(history.stacks.size(), 3U);
  EXPECT_EQ(history.stacks[native].addresses, (std::vector<std::uint64_t>{0x1111, 0x2222, 0x3333}));
  EXPECT_TRUE(history.stacks[native].python.empty());
  ASSERT_EQ(history.stacks[both].python.size(), 1U);
  EXPECT_EQ(history.stacks[both].python[0].name, "train");
  EXPECT_EQ(history.stacks[both].python[0].file, "train.py");
  EXPECT_EQ(history.stacks[both].python[0].line, 12U);
}

TEST(History, SaysWhereAStackEnds) {
  HistoryWorld world{{.stacks = history::Stacks::All, .max_entries = 64}};
  history::ProcessTables& tables = world.writer().tables();
  const std::array<std::uint64_t, 2> addresses{0x1111, 0x2222};
  const std::vector<std::uint64_t> many(history::kMostFrames + 1, 0x3333);

  const auto whole = tables.intern_stack({.addresses = addresses}, 5).number;
  const auto lost = tables.intern_stack(
      {.addresses = addresses, .end = history::StackEnd::Lost, .python_end = history::StackEnd::Cut}, 6);
  const auto cut = tables.intern_stack({.addresses = many}, 7).number;

  EXPECT_TRUE(lost.is_new) << "another stack, though the frames are the same";
  const history::History history = world.read();
  EXPECT_EQ(history.stacks[whole].end, history::StackEnd::Outermost);
  EXPECT_EQ(history.stacks[lost.number].end, history::StackEnd::Lost);
  EXPECT_EQ(history.stacks[lost.number].python_end, history::StackEnd::Cut);
  EXPECT_EQ(history.stacks[lost.number].addresses.size(), 2U);
  EXPECT_EQ(history.stacks[cut].end, history::StackEnd::Cut);
  EXPECT_EQ(history.stacks[cut].addresses.size(), history::kMostFrames);
}

TEST(History, NumbersStacksAnewWhereAddressesMeanSomethingElse) {
  HistoryWorld world{{.stacks = history::Stacks::Cpp, .max_entries = 64}};
  history::ProcessTables& tables = world.writer().tables();
  const std::uint64_t address = 0x1111;
  const auto before = tables.intern_stack({.addresses = {&address, 1}}, 5);

  const auto after = tables.intern_stack({.addresses = {&address, 1}, .generation = 1}, 6);

  EXPECT_TRUE(after.is_new);
  EXPECT_NE(after.number, before.number);
  const history::History history = world.read();
  EXPECT_EQ(history.stacks[before.number].addresses, history.stacks[after.number].addresses);
}

TEST(History, CountsStacksThatFindNoPlace) {
  HistoryWorld world{{.stacks = history::Stacks::Cpp, .max_entries = 64}};
  history::ProcessTables& tables = world.writer().tables();
  const std::uint64_t room = history::process_sizes(world.writer().settings()).stacks;
  for (std::uint64_t i = 1; i <= room; ++i) {
    EXPECT_EQ(tables.intern_stack({.addresses = {&i, 1}}, 1).number, i);
  }

  const std::uint64_t more = room + 1;

  EXPECT_EQ(tables.intern_stack({.addresses = {&more, 1}}, 1).number, 0U);
  EXPECT_EQ(world.read().recording.lost, 1U);
}

TEST(History, KnowsWhichModulesWereThereAndWhenTheyWent) {
  HistoryWorld world{{.stacks = history::Stacks::Cpp, .max_entries = 64}};
  history::ProcessTables& tables = world.writer().tables();
  const std::array<std::byte, 3> build_id{std::byte{0xAB}, std::byte{0xCD}, std::byte{0xEF}};
  const std::uint64_t now = world.writer().start_monotonic_ns();

  const int module = tables.add_module({.bias = 0x400000,
                                        .start = 0x401000,
                                        .end = 0x402000,
                                        .file_offset = 0x1000,
                                        .path = "/lib/x.so",
                                        .build_id = build_id},
                                       now);
  tables.set_module_gone(module, now + 9);

  const history::Module found = world.read().modules.at(0);
  EXPECT_EQ(found.path, "/lib/x.so");
  EXPECT_EQ(found.bias, 0x400000U);
  EXPECT_EQ(found.start, 0x401000U);
  EXPECT_EQ(found.end, 0x402000U);
  EXPECT_EQ(found.file_offset, 0x1000U);
  EXPECT_EQ(found.build_id, (std::vector<std::uint8_t>{0xAB, 0xCD, 0xEF}));
  EXPECT_EQ(found.since_ns, world.writer().start_realtime_ns());
  EXPECT_EQ(found.gone_ns, world.writer().start_realtime_ns() + 9);
}

TEST(History, WithMoreThanOneDeviceGrowsByEach) {
  HistoryWorld world;
  SmallDevice first{world.writer().add_device().value()};
  first.make_segment();
  SmallDevice second{world.writer().add_device().value()};
  second.make_segment();
  second.allocate();

  const history::History history = world.read();

  ASSERT_EQ(history.devices.size(), 2U);
  EXPECT_EQ(history.devices[0].events.size(), 1U);
  EXPECT_EQ(history.devices[1].events.size(), 2U);
  EXPECT_EQ(what_is_wrong(history), "");
}

TEST(History, IsRefusedWhereItWouldTakeTooMuch) {
  const TemporaryDirectory directory;
  auto segment = segment::SegmentWriter::create(options_in(directory));

  const auto writer = history::HistoryWriter::create(segment.value().path(), segment.value().nonce(),
                                                     {.max_entries = history::kMostEntries});

  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().code, ErrorCode::NoSpace);
  EXPECT_EQ(directory.entries().size(), 1U);
}

TEST(History, GoesWithItsWriterOnly) {
  HistoryWorld world;
  const std::string path = world.path();

  world.writer().remove_file();

  EXPECT_NE(::access(path.c_str(), F_OK), 0);
  write_file(path, {});  // somebody else's
  world.writer().remove_file();
  EXPECT_EQ(::access(path.c_str(), F_OK), 0);
}

TEST(Snapshot, HasEventsBlocksStacksAndCountersOfItsMoment) {
  HistoryWorld world{{.stacks = history::Stacks::Cpp, .max_entries = 64}};
  const std::uint64_t address = 0x1234;
  const history::StackId stack = world.writer().tables().intern_stack({.addresses = {&address, 1}}, 1).number;
  world.device().make_segment();
  world.device().allocate(stack);
  history::DeviceWriter& live = world.device().writer();
  history::SnapshotImage image;
  const history::DeviceSizes sizes{.ring = live.events_kept(), .blocks = 8, .segments = 8};
  ASSERT_TRUE(image
                  .make({.kind = history::Kind::Snapshot,
                         .reason = history::Reason::Asked,
                         .nonce = 77,
                         .settings = world.writer().settings(),
                         .start_realtime_ns = 1000,
                         .start_monotonic_ns = 0,
                         .taken_monotonic_ns = 500},
                        world.writer().tables().used(), {&sizes, 1})
                  .ok());
  EXPECT_TRUE(world.writer().tables().copy_to(image.tables()));
  history::DeviceWriter& device = image.device(0);
  device.describe(sample_device(), 3, 0);
  device.copy_events(live);
  device.put(1, history::SegmentWords{.address = 0x1000, .size = 4096, .serial = 1});
  history::BlockWords whole = SmallDevice::block(0x1000, 4096, BlockState::Allocated);
  whole.segment_serial = 1;
  whole.stack = stack;
  device.put(1, whole);
  device.put_counters(sample_basis());
  device.open();

  const std::string path = world.directory() / "x.tmsnap";
  ASSERT_TRUE(image.save(path.c_str()).ok());

  const history::History history = history::HistoryReader::open(path).value().read().value();
  EXPECT_EQ(history.recording.kind, history::Kind::Snapshot);
  EXPECT_EQ(history.recording.reason, history::Reason::Asked);
  EXPECT_EQ(history.recording.nonce, 77U);
  EXPECT_EQ(history.recording.taken_ns, 1500U);
  const history::Device& read = history.devices.at(0);
  EXPECT_EQ(read.events.size(), 2U);
  EXPECT_EQ(read.segments.at(0).blocks.at(0).stack, stack);
  EXPECT_EQ(history.stacks.at(stack).addresses, std::vector<std::uint64_t>{address});
  ASSERT_TRUE(read.basis.has_value());
  EXPECT_EQ(read.basis->words, sample_basis().words);
  EXPECT_FALSE(image.save(path.c_str()).ok());  // never over a file that is there
}

}  // namespace
}  // namespace tidemark::test
