// What a writer puts in, a reader gets out.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>

#include "shared/segment/enumerate.hpp"
#include "shared/segment/own_identity.hpp"
#include "shared/segment/reader.hpp"
#include "shared/segment/writer.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::segment {
namespace {

struct World {
  explicit World(WriterOptions options = {}) : writer(make(options)) {}

  SegmentWriter make(WriterOptions options) {
    options.directory = directory.path().c_str();
    return SegmentWriter::create(options).value();
  }
  [[nodiscard]] SegmentReader reader() const { return SegmentReader::open(writer.path()).value(); }

  test::TemporaryDirectory directory;
  SegmentWriter writer;
};

TEST(Segment, SaysWhoTheProcessIs) {
  World world{{.label = "job 7", .shim_version = "0.1.0", .rank = {.global = 3, .local = 0, .world = 8}}};

  const ProcessIdentity identity = world.reader().identity();

  EXPECT_EQ(identity.nonce, world.writer.nonce());
  EXPECT_EQ(identity.id, id_of(world.writer.nonce()));
  EXPECT_EQ(identity.pid, ::getpid());
  EXPECT_EQ(identity.parent_pid, ::getppid());
  EXPECT_EQ(identity.uid, ::geteuid());
  EXPECT_EQ(identity.file_uid, ::geteuid());
  EXPECT_EQ(identity.pid_namespace, own_pid_namespace());
  EXPECT_GT(identity.start_ticks, 0u);
  EXPECT_EQ(identity.executable, "segment_test");
  EXPECT_EQ(identity.command, "segment_test");
  EXPECT_EQ(identity.label, "job 7");
  EXPECT_EQ(identity.shim_version, "0.1.0");
  EXPECT_EQ(identity.rank.global, 3);
  EXPECT_EQ(identity.rank.local, 0);
  EXPECT_EQ(identity.rank.world, 8);
  EXPECT_EQ(identity.boot_id.size(), 32u);
  EXPECT_LE(identity.create_realtime_ns, clock_ns(CLOCK_REALTIME));
  EXPECT_GT(identity.create_monotonic_ns, 0u);
  EXPECT_FALSE(identity.has_control);
}

TEST(Segment, KeepsALabelOf64Bytes) {
  World world{{.label = std::string(100, 'l')}};

  EXPECT_EQ(world.reader().identity().label, std::string(64, 'l'));
}

TEST(Segment, HasNoDeviceBeforeTheFirstIsClaimed) {
  const World world;
  const ProcessSnapshot snapshot = world.reader().snapshot();

  EXPECT_TRUE(snapshot.devices.empty());
  EXPECT_EQ(snapshot.state, ProcessState::Live);
  EXPECT_EQ(snapshot.pid, ::getpid());
  EXPECT_FALSE(snapshot.has_newer_layout);
}

TEST(Segment, ShowsADeviceWithItsFirstBasis) {
  World world;
  const auto slot = world.writer.claim_device(test::sample_device(1), test::sample_basis());
  ASSERT_TRUE(slot.ok());
  const ProcessSnapshot snapshot = world.reader().snapshot();

  ASSERT_EQ(snapshot.devices.size(), 1u);
  const DeviceSnapshot& device = snapshot.devices[0];
  EXPECT_EQ(device.slot, slot.value().index());
  EXPECT_EQ(device.info.backend, Backend::Mtia);
  EXPECT_EQ(device.info.ordinal, 1u);
  EXPECT_EQ(device.info.uuid, test::sample_device(1).uuid);
  EXPECT_EQ(device.info.name.view(), "MTIA (simulated)");
  EXPECT_EQ(device.info.pci_bus_id.view(), "0000:65:00.0");
  EXPECT_EQ(device.info.capacity_bytes, std::uint64_t{8} << 30);
  EXPECT_TRUE(device.info.simulated);
  EXPECT_EQ(device.basis.words, test::sample_basis().words);
  EXPECT_FALSE(device.approximate);
}

TEST(Segment, FollowsWhatIsPublished) {
  World world;
  DeviceSlot slot = world.writer.claim_device(test::sample_device(), {}).value();
  const SegmentReader reader = world.reader();
  DeviceBasis basis = test::sample_basis(3);

  slot.publish(basis, kAllBasisLines);
  EXPECT_EQ(reader.snapshot().devices.at(0).basis.words, basis.words);

  basis[BasisWord::misses] = 99;
  basis[BasisWord::oom_time_ns] = 98;
  slot.publish(basis, line_of(BasisWord::misses));

  const DeviceBasis seen = reader.snapshot().devices.at(0).basis;
  EXPECT_EQ(seen[BasisWord::misses], 99u);
  EXPECT_NE(seen[BasisWord::oom_time_ns], 98u) << "a line that wasn't named isn't copied";
}

TEST(Segment, KeepsDevicesApart) {
  World world;
  std::vector<DeviceSlot> slots;
  for (std::uint32_t i = 0; i < kDeviceSlots; ++i) {
    slots.push_back(world.writer.claim_device(test::sample_device(i), {}).value());
  }
  for (std::uint32_t i = 0; i < kDeviceSlots; ++i) {
    slots[i].publish(test::sample_basis(i + 1), kAllBasisLines);
  }

  const auto seventeenth = world.writer.claim_device(test::sample_device(99), {});
  const ProcessSnapshot snapshot = world.reader().snapshot();

  EXPECT_EQ(seventeenth.error().code, ErrorCode::NoSpace);
  ASSERT_EQ(snapshot.devices.size(), kDeviceSlots);
  for (std::uint32_t i = 0; i < kDeviceSlots; ++i) {
    EXPECT_EQ(snapshot.devices[i].info.ordinal, i);
    EXPECT_EQ(snapshot.devices[i].basis.words, test::sample_basis(i + 1).words);
  }
}

// A reader reads again only what moved since it looked last.
TEST(Segment, ShowsKindsThatMovedBetweenLooks) {
  World world;
  SegmentWriter& writer = world.writer;
  const DeviceSlot slot = writer.claim_device(test::sample_device(), test::sample_basis()).value();
  const SegmentReader reader = world.reader();
  const auto async_bytes = [&] {
    const ProcessSnapshot snapshot = reader.snapshot();
    const auto& kinds = snapshot.devices.at(0).kinds;
    return kinds ? std::optional{(*kinds)[DeviceKind::Async].current_bytes} : std::nullopt;
  };
  DeviceKindCounts kinds;
  HostKindCounts of_host;

  EXPECT_EQ(async_bytes(), std::nullopt);
  for (const std::uint64_t bytes : {7U, 8U, 8U, 0U}) {
    kinds[DeviceKind::Async].current_bytes = bytes;
    writer.set_kinds(slot.index(), kinds);
    EXPECT_EQ(async_bytes(), bytes);
    EXPECT_EQ(async_bytes(), bytes) << "and again";
  }
  EXPECT_FALSE(reader.snapshot().host_kinds.has_value());
  of_host[HostKind::Pinned].current_bytes = 9;
  writer.set_host_kinds(of_host);
  EXPECT_EQ(reader.snapshot().host_kinds.value()[HostKind::Pinned].current_bytes, 9U);
  EXPECT_EQ(async_bytes(), 0U);
  // A device more, and with it another record.
  const DeviceSlot second = writer.claim_device(test::sample_device(1), test::sample_basis()).value();
  kinds[DeviceKind::Async].current_bytes = 11;
  writer.set_kinds(second.index(), kinds);
  EXPECT_EQ(async_bytes(), 0U);
  EXPECT_EQ(reader.snapshot().devices.at(1).kinds.value()[DeviceKind::Async].current_bytes, 11U);
}

// More than a reader reads at first.
TEST(Segment, ShowsAnyNumberOfDevices) {
  World world;
  SegmentWriter& writer = world.writer;
  const SegmentReader reader = world.reader();
  for (std::uint32_t count = 1; count <= kDeviceSlots; ++count) {
    const DeviceSlot slot = writer.claim_device(test::sample_device(count), test::sample_basis(count)).value();
    const ProcessSnapshot snapshot = reader.snapshot();
    ASSERT_EQ(snapshot.devices.size(), count);
    EXPECT_EQ(snapshot.devices.back().slot, slot.index());
    EXPECT_EQ(snapshot.devices.back().info.ordinal, count);
    EXPECT_EQ(snapshot.devices.back().basis.words, test::sample_basis(count).words);
  }
}

TEST(DeviceSlot, WithoutASegmentPublishesNowhere) {
  DeviceSlot slot;

  slot.publish(test::sample_basis(), kAllBasisLines);

  EXPECT_FALSE(slot.is_published());
}

TEST(Segment, SaysWhatTheProcessDoes) {
  World world;
  world.writer.set_mode(ProcessMode::Count, "a sanitizer is loaded");
  world.writer.set_layer(Layer::Both);
  world.writer.set_flag(ProcessFlag::ServiceThread, true);
  world.writer.set_flag(ProcessFlag::FastFree, true);
  world.writer.set_flag(ProcessFlag::FastFree, false);
  world.writer.set_control_policy(ControlPolicy::Peaks);
  world.writer.set_inner_pool(InnerPool::Torch);
  world.writer.count_error(ErrorCode::System, 12);
  world.writer.count_error(ErrorCode::DriverFailure, 700);
  world.writer.beat({.hook_calls = 5, .swapped_lookups = 1, .foreign_frees = 4});
  EXPECT_EQ(world.writer.beat({.hook_calls = 6, .swapped_lookups = 1, .foreign_frees = 7}), 2u);

  const ProcessGlobals globals = world.reader().snapshot().globals;

  EXPECT_EQ(globals.mode, ProcessMode::Count);
  EXPECT_EQ(globals.mode_reason, "a sanitizer is loaded");
  EXPECT_GT(globals.mode_realtime_ns, 0u);
  EXPECT_EQ(globals.layer, Layer::Both);
  EXPECT_TRUE(globals.has(ProcessFlag::ServiceThread));
  EXPECT_FALSE(globals.has(ProcessFlag::FastFree));
  EXPECT_EQ(globals.control_policy, ControlPolicy::Peaks);
  EXPECT_EQ(globals.inner_pool, InnerPool::Torch);
  EXPECT_EQ(globals.errors, 2u);
  EXPECT_EQ(globals.last_error_code, static_cast<std::uint64_t>(ErrorCode::DriverFailure));
  EXPECT_EQ(globals.last_error_native, 700u);
  EXPECT_EQ(globals.heartbeat_count, 2u);
  EXPECT_GT(globals.heartbeat_boottime_ns, 0u);
  EXPECT_EQ(globals.hooks.hook_calls, 6u);
  EXPECT_EQ(globals.hooks.swapped_lookups, 1u);
  EXPECT_EQ(globals.hooks.foreign_frees, 7u);
  EXPECT_EQ(globals.exit_realtime_ns, 0u);
  EXPECT_FALSE(globals.approximate);
}

TEST(Segment, CarriesAcknowledgements) {
  World world;
  const SegmentReader reader = world.reader();
  const std::uint32_t bell = reader.ack_bell();
  Acknowledgement sent;
  sent.ticket = 42;
  sent.status = AckStatus::Deferred;
  sent.operation = 4;
  sent.results = {1, 2, 3, 4, 5, 6, 7, 8};
  sent.detail = "waits for the program's next call";

  world.writer.acknowledge(30, sent);

  const Acknowledgement seen = reader.acknowledgement(30).value();
  EXPECT_EQ(seen.ticket, 42u);
  EXPECT_EQ(seen.status, AckStatus::Deferred);
  EXPECT_EQ(seen.operation, 4u);
  EXPECT_EQ(seen.results, sent.results);
  EXPECT_EQ(seen.detail, sent.detail);
  EXPECT_GT(seen.time_realtime_ns, 0u);
  EXPECT_NE(reader.ack_bell(), bell);
  EXPECT_EQ(reader.acknowledgement(0).value().ticket, 0u);
  EXPECT_EQ(reader.acknowledgement(31).error().code, ErrorCode::InvalidValue);
}

TEST(Segment, WaitsForItsBellOnlyWhileNothingHappened) {
  World world;
  const SegmentReader reader = world.reader();
  const std::uint32_t before = reader.ack_bell();
  world.writer.acknowledge(0, {});

  reader.wait_for_bell(before, std::chrono::hours{1});  // returns at once, or the test's time limit ends it

  EXPECT_NE(reader.ack_bell(), before);
}

TEST(Segment, IsReadableByItsOwnerAlone) {
  for (const auto& [access, mode] :
       {std::pair{Access::Owner, 0400}, std::pair{Access::Group, 0440}, std::pair{Access::All, 0444}}) {
    const World world{{.access = access}};
    struct stat info {};

    ASSERT_EQ(::stat(world.writer.path(), &info), 0);

    EXPECT_EQ(static_cast<int>(info.st_mode & 07777), mode);
    EXPECT_LE(info.st_size, 65536);
  }
}

TEST(Segment, IsNeverVisibleUnderAnotherName) {
  World world;

  EXPECT_EQ(
      world.directory.entries(),
      std::vector<std::string>{std::string{
          stats_name({.uid = ::geteuid(), .pid = static_cast<std::uint32_t>(::getpid()), .nonce = world.writer.nonce()})
              .view()}});
}

TEST(Segment, IsMadeInSharedMemoryByDefault) {
  SegmentWriter writer = SegmentWriter::create({}).value();
  const std::string path = writer.path();

  EXPECT_TRUE(path.starts_with("/dev/shm/tidemark.")) << path;
  EXPECT_EQ(SegmentReader::open(path).value().state(), ProcessState::Live);

  writer.remove_files();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Segment, IsRefusedInADirectoryThatCannotBe) {
  for (const auto& [directory, code] :
       {std::pair{"relative", ErrorCode::InvalidValue}, std::pair{"/nonexistent", ErrorCode::NotFound},
        std::pair{"/dev/null", ErrorCode::NotFound}}) {
    WriterOptions options;
    options.directory = directory;
    EXPECT_EQ(SegmentWriter::create(options).error().code, code) << directory;
  }
}

TEST(Segment, OfAnExitedProcessSaysSo) {
  World world;
  const SegmentReader reader = world.reader();
  {
    SegmentWriter writer = std::move(world.writer);
    writer.mark_exited();
    EXPECT_EQ(reader.state(), ProcessState::Live) << "exiting, but still there";
    EXPECT_GT(reader.globals().exit_realtime_ns, 0u);
  }

  EXPECT_EQ(reader.state(), ProcessState::Exited);
}

TEST(Segment, NoticesThatItsNameIsGone) {
  World world;
  EXPECT_TRUE(world.writer.is_name_present());

  std::filesystem::remove(world.writer.path());
  EXPECT_FALSE(world.writer.is_name_present());

  test::write_file(world.writer.path(), {});
  EXPECT_FALSE(world.writer.is_name_present()) << "another file under its name isn't it";
}

TEST(Segment, RemovesOnlyItsOwnFiles) {
  World world;
  const std::string path = world.writer.path();
  std::filesystem::remove(path);
  test::write_file(path, {std::byte{1}});

  world.writer.remove_files();

  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(Segment, IsCleanedBeforeItIsShown) {
  World world{{.label = "\x1b[2Jevil", .command = "a\nb"}};
  DeviceInfo info = test::sample_device();
  info.name = "GPU\x1b]0;title\x07";
  ASSERT_TRUE(world.writer.claim_device(info, {}).ok());

  const ProcessSnapshot snapshot = world.reader().snapshot();

  EXPECT_EQ(snapshot.identity.label, "?[2Jevil");
  EXPECT_EQ(snapshot.identity.command, "a?b");
  EXPECT_EQ(snapshot.devices.at(0).info.name.view(), "GPU?]0;title?");
}

TEST(Segment, ShowsHowFunctionsWereMet) {
  World world;
  EXPECT_FALSE(world.reader().coverage()) << "nobody said anything";

  const auto entered = static_cast<std::uint64_t>(SymbolUse::Entered);
  const std::string long_name(60, 'n');
  std::vector<CoverageEntry> entries{{.name = "cudaMalloc", .uses = entered},
                                     {.name = long_name, .uses = 0, .unaccounted_calls = 7}};
  world.writer.set_coverage(entries);
  const CoverageList first = world.reader().coverage().value();
  entries[1].unaccounted_calls = 8;
  world.writer.mark_exited(entries);
  const CoverageList last = world.reader().coverage().value();

  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0], (SymbolCoverage{.name = "cudaMalloc", .uses = entered}));
  EXPECT_TRUE(first[0].has(SymbolUse::Entered));
  EXPECT_FALSE(first[0].has(SymbolUse::Missed));
  EXPECT_EQ(first[1], (SymbolCoverage{.name = std::string(39, 'n'), .unaccounted_calls = 7}));
  EXPECT_EQ(last[1].unaccounted_calls, 8u);
}

TEST(Segment, HasRoomForAsManyFunctionsAsItSays) {
  World world;
  const std::vector<CoverageEntry> entries(kMostCoverageEntries + 1, {.name = "cuMemCreate", .uses = 1});

  world.writer.set_coverage(entries);

  EXPECT_EQ(world.reader().coverage().value().size(), kMostCoverageEntries);
}

TEST(Segment, ShowsItsSettings) {
  constexpr std::string_view kSettings{"free\0strict\0label\0\0dir\0/a\x1b\0", 28};
  const World world{{.settings = kSettings}};

  EXPECT_EQ(world.reader().settings(), (std::vector<Setting>{{"free", "strict"}, {"label", ""}, {"dir", "/a?"}}));
  EXPECT_TRUE(World{}.reader().settings().empty());
}

TEST(Segment, LeavesSettingsOutThatDoNotFit) {
  const std::string value(3060, 'v');
  const std::string settings = "free" + std::string(1, '\0') + value + std::string("\0label\0eval\0", 12);

  EXPECT_EQ(World{{.settings = settings}}.reader().settings(), (std::vector<Setting>{{"free", value}}));
}

}  // namespace
}  // namespace tidemark::segment
