// A history to be looked at: written as a host writes it, in a directory of its own.
#pragma once

#include <cstdint>
#include <string>

#include "shared/history/history_writer.hpp"
#include "shared/history/reader.hpp"
#include "shared/segment/writer.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::test {

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// One segment of 2 MiB with one block that fills it; then pieces are cut from its front and given back.
class SmallDevice {
 public:
  explicit SmallDevice(history::DeviceWriter writer) : writer_(writer) {
    writer_.describe(sample_device(), 3, 1000);
    writer_.open();
  }

  void make_segment() {
    history::Changes changes;
    changes.segment(1, {.address = kBase, .size = 2 * kMiB, .serial = 7, .context = 5});
    changes.block(1, block(kBase, 2 * kMiB, history::BlockState::Inactive));
    writer_.record({.action = history::Action::SegmentAlloc, .address = kBase, .size = 2 * kMiB, .time_ns = ++now_},
                   changes);
  }
  // The first 1 KiB for 1000 bytes, as block 2; the rest stays block 1.
  void allocate(history::StackId stack = 0) {
    history::BlockWords front = block(kBase, 1024, history::BlockState::Allocated);
    front.requested = 1000;
    front.birth_ns = birth_ = ++now_;
    front.stack = stack;
    history::Changes changes;
    changes.block(2, front);
    changes.block(1, block(kBase + 1024, 2 * kMiB - 1024, history::BlockState::Inactive));
    writer_.record({.action = history::Action::Alloc,
                    .stack = stack,
                    .address = kBase,
                    .size = 1024,
                    .requested = 1000,
                    .time_ns = now_},
                   changes);
  }
  void free() {
    history::Changes request;
    history::BlockWords front = block(kBase, 1024, history::BlockState::Pending);
    front.requested = 1000;
    front.birth_ns = birth_;
    request.block(2, front);
    writer_.record({.action = history::Action::FreeRequested, .address = kBase, .size = 1024, .time_ns = ++now_},
                   request);
    history::Changes completion;
    completion.no_block(2);
    completion.block(1, block(kBase, 2 * kMiB, history::BlockState::Inactive));
    writer_.record({.action = history::Action::FreeCompleted, .address = kBase, .size = 1024, .time_ns = ++now_},
                   completion);
  }
  void free_segment() {
    history::Changes changes;
    changes.no_segment(1);
    writer_.record({.action = history::Action::SegmentFree, .address = kBase, .size = 2 * kMiB, .time_ns = ++now_},
                   changes);
  }

  static history::BlockWords block(std::uint64_t address, std::uint64_t size, history::BlockState state) {
    return {.address = address, .size = size, .state = state, .segment = 1, .segment_serial = 7};
  }

  history::DeviceWriter& writer() { return writer_; }

  static constexpr std::uint64_t kBase = 0x7000'0000'0000;

 private:
  history::DeviceWriter writer_;
  std::uint64_t now_ = 1'000'000;
  std::uint64_t birth_ = 0;  // of the block in use
};

// A process that records.
class HistoryWorld {
 public:
  explicit HistoryWorld(const history::Settings& settings = {.max_entries = 64})
      : segment_(std::move(segment::SegmentWriter::create(options_in(directory_))).value()),
        writer_(history::HistoryWriter::create(segment_.path(), segment_.nonce(), settings)) {}

  [[nodiscard]] history::HistoryWriter& writer() { return writer_.value(); }
  [[nodiscard]] segment::SegmentWriter& segment() { return segment_; }
  [[nodiscard]] const TemporaryDirectory& directory() const { return directory_; }
  [[nodiscard]] std::string path() const { return writer_.value().path(); }

  SmallDevice& device() {
    if (!device_) {
      device_.emplace(writer().add_device().value());
    }
    return *device_;
  }

  [[nodiscard]] history::History read() const { return history::HistoryReader::open(path()).value().read().value(); }

 private:
  TemporaryDirectory directory_;
  segment::SegmentWriter segment_;
  Result<history::HistoryWriter> writer_;
  std::optional<SmallDevice> device_;
};

}  // namespace tidemark::test
