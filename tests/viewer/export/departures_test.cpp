// Processes with real segments, which take their files away as they end.
#include "viewer/model/collect.hpp"

#include "shared/segment/writer.hpp"
#include "tests/viewer/export/export_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace tidemark::viewer {
namespace {

namespace fs = std::filesystem;
using enum BasisWord;
using testing::Optional;

class Departures : public testing::Test {
 protected:
  Departures() {
    std::string pattern = "/tmp/tidemark-departures.XXXXXX";
    directory_ = mkdtemp(pattern.data());
    look();
    segment::WriterOptions options;
    options.directory = directory_.c_str();
    options.command = "train";
    writer_.emplace(segment::SegmentWriter::create(options).value());
    segment::DeviceInfo info;
    info.backend = segment::Backend::Mtia;
    info.uuid = {1};
    slot_.emplace(writer_->claim_device(info, basis_).value());
  }
  ~Departures() override {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }
  void look() {
    world_.now += Seconds{1};
    world_.books.take(collect(std::span{&directory_, 1}, {.view = &world_.books.view(), .looks_everywhere = false}), {},
                      world_.now);
  }
  void allocate(std::uint64_t total) {
    basis_[large_allocations_total] = total;
    basis_[large_live_bytes] = 1 << 20;
    slot_->publish(basis_, kAllBasisLines);
  }

  BooksWorld world_;
  fs::path directory_;
  DeviceBasis basis_;
  std::optional<segment::SegmentWriter> writer_;
  std::optional<segment::DeviceSlot> slot_;
};

TEST_F(Departures, LeaveTheirLastNumbers) {
  allocate(5);
  look();
  world_.page();
  allocate(8);
  writer_->mark_exited();
  writer_->remove_files();
  writer_.reset();
  look();

  EXPECT_THAT(world_.value("tidemark_allocations_total"), Optional(8));
  EXPECT_THAT(world_.value("tidemark_exits_total", {"clean"}), Optional(1));
  EXPECT_THAT(world_.value("tidemark_held_at_exit_bytes_total"), Optional(1 << 20));
  look();
  EXPECT_THAT(world_.value("tidemark_exits_total", {"clean"}), Optional(1)) << "once";
}

// Its file is gone, and it goes on for a while.
TEST_F(Departures, AreFollowedToTheirEnd) {
  allocate(5);
  look();
  world_.page();
  writer_->remove_files();
  look();
  allocate(9);
  look();
  EXPECT_THAT(world_.value("tidemark_allocations_total"), Optional(9));
  EXPECT_THAT(world_.value("tidemark_exits_total"), Optional(0));

  allocate(10);
  writer_->mark_exited();
  writer_.reset();
  look();

  EXPECT_THAT(world_.value("tidemark_allocations_total"), Optional(10));
  EXPECT_THAT(world_.value("tidemark_exits_total", {"clean"}), Optional(1));
}

TEST_F(Departures, ThatComeBackAreTheSame) {
  allocate(5);
  segment::WriterOptions options;
  options.directory = directory_.c_str();
  options.command = "dead";
  segment::SegmentWriter::create(options).value().mark_exited();
  look();
  world_.page();
  EXPECT_THAT(world_.value("tidemark_exits_total"), Optional(1));
  const fs::path away = directory_.string() + ".away";
  for (int i = 0; i < 2; ++i) {
    fs::rename(directory_, away);
    look();
    look();
    fs::rename(away, directory_);
    allocate(7);
    look();
  }

  EXPECT_THAT(world_.value("tidemark_exits_total"), Optional(1)) << "the dead one is counted once";
  EXPECT_THAT(world_.value("tidemark_allocations_total", {"train"}), Optional(7));
  EXPECT_THAT(world_.value("tidemark_group_processes", {"train"}), Optional(1));

  writer_->mark_exited();
  writer_.reset();
  look();
  look();
  EXPECT_THAT(world_.value("tidemark_exits_total"), Optional(2));
}

TEST_F(Departures, OfTheWholeDirectoryAreNoEndOfTheExporter) {
  allocate(5);
  look();
  world_.page();
  fs::remove_all(directory_);
  look();

  EXPECT_THAT(world_.value("tidemark_allocations_total"), Optional(5));
  EXPECT_EQ(world_.value("tidemark_allocated_bytes"), std::nullopt);
}

}  // namespace
}  // namespace tidemark::viewer
