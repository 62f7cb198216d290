#include "tests/viewer/history/saved_history.hpp"

#include <array>
#include <span>
#include <stdexcept>
#include <vector>

#include "shared/history/snapshot_image.hpp"

namespace tidemark::test {
namespace {

// Where a history's own clock is at its beginning.
constexpr std::uint64_t kMonotonicStart = 1'000'000'000'000;

class Saver {
 public:
  Saver(const viewer::MemorySnapshot& snapshot, std::uint64_t nonce, const std::string& module)
      : snapshot_(snapshot), module_(module) {
    const history::Recording& recording = snapshot.recording;
    start_ns_ = recording.since_ns == 0 ? 1'790'000'000'000'000'000 : recording.since_ns;
    history::FileWords words{.kind = recording.kind,
                             .reason = history::Reason::Asked,
                             .nonce = nonce,
                             .pid = static_cast<std::uint64_t>(recording.pid),
                             .settings = {.enabled = recording.enabled, .stacks = recording.stacks},
                             .start_realtime_ns = start_ns_,
                             .start_monotonic_ns = kMonotonicStart};
    words.taken_monotonic_ns = recording.taken_ns ? monotonic(*recording.taken_ns) : 0;
    std::vector<history::DeviceSizes> sizes;
    for (const history::Device& device : snapshot.devices) {
      std::uint64_t blocks = 1;
      for (const history::Segment& segment : device.segments) {
        blocks += segment.blocks.size();
      }
      sizes.push_back({.ring = device.events.size(), .blocks = blocks, .segments = device.segments.size() + 1});
    }
    constexpr history::ProcessSizes kTables{
        .stacks = 1024, .frames = 65536, .strings = 4096, .text = 65536, .modules = 1};
    if (!image_.make(words, kTables, sizes)) {
      throw std::runtime_error("no memory for a history");
    }
    image_.set_beat(1'000'000, monotonic(recording.taken_ns.value_or(start_ns_)));
    beat_ns_ = recording.taken_ns.value_or(start_ns_);
  }

  void save(const std::string& path) {
    add_stacks();
    for (std::size_t i = 0; i < snapshot_.devices.size(); ++i) {
      add_device(i);
    }
    if (!image_.save(path.c_str())) {
      throw std::runtime_error("cannot save " + path);
    }
  }

 private:
  [[nodiscard]] std::uint64_t monotonic(std::uint64_t ns) const { return ns - start_ns_ + kMonotonicStart; }

  void add_stacks() {
    ids_.assign(1, 0);
    constexpr std::array<std::uint64_t, 1> kInModule{0x1800};
    std::span<const std::uint64_t> native;
    if (!module_.empty()) {
      image_.tables().add_module({.bias = 0x1000, .start = 0x1000, .end = 0x2000, .path = module_}, kMonotonicStart);
      native = kInModule;
    }
    for (std::size_t i = 1; i < snapshot_.stacks.size(); ++i) {
      std::vector<history::PythonFrame> frames;
      for (const viewer::Frame& frame : snapshot_.stacks[i]) {
        frames.push_back({.name = image_.tables().intern_string(frame.name),
                          .file = image_.tables().intern_string(frame.file),
                          .line = frame.line});
      }
      ids_.push_back(image_.tables().intern_stack({.addresses = native, .python = frames}, kMonotonicStart).number);
    }
  }

  void add_device(std::size_t index) {
    const history::Device& device = snapshot_.devices[index];
    history::DeviceWriter& writer = image_.device(index);
    writer.describe(device.info, static_cast<std::uint32_t>(index), kMonotonicStart);
    writer.open();
    for (const history::Event& event : device.events) {
      writer.record({.action = event.action,
                     .is_large = event.is_large,
                     .stack = ids_.at(event.stack),
                     .address = event.address,
                     .size = event.size,
                     .requested = event.requested,
                     .time_ns = monotonic(event.time_ns),
                     .device_free = event.device_free},
                    {});
    }
    std::uint32_t block_number = 1;
    for (std::size_t i = 0; i < device.segments.size(); ++i) {
      const history::Segment& segment = device.segments[i];
      const auto number = static_cast<std::uint32_t>(i + 1);
      writer.put(number, history::SegmentWords{.address = segment.address,
                                               .size = segment.size,
                                               .serial = number,
                                               .is_large = segment.is_large,
                                               .stack = ids_.at(segment.stack),
                                               .birth_ns = segment.birth_ns ? monotonic(*segment.birth_ns) : 0});
      for (const history::Block& block : segment.blocks) {
        writer.put(block_number++, words_of(block, number));
      }
    }
    writer.open();
  }

  [[nodiscard]] history::BlockWords words_of(const history::Block& block, std::uint32_t segment) const {
    history::BlockWords words{.address = block.address,
                              .size = block.size,
                              .requested = block.requested,
                              .state = block.state,
                              .stack = ids_.at(block.stack),
                              .segment = segment,
                              .segment_serial = segment};
    if (block.birth_ns && !block.is_older) {
      words.birth_ns = monotonic(*block.birth_ns);
    } else if (block.birth_ns) {
      constexpr std::uint64_t kSecond = 1'000'000'000;
      words.birth_beat = static_cast<std::uint32_t>(1'000'000 - (beat_ns_ - *block.birth_ns) / kSecond);
    }
    return words;
  }

  const viewer::MemorySnapshot& snapshot_;
  const std::string& module_;
  std::uint64_t start_ns_ = 0;
  std::uint64_t beat_ns_ = 0;
  history::SnapshotImage image_;
  std::vector<history::StackId> ids_;
};

}  // namespace

void save_history(const std::string& path, const viewer::MemorySnapshot& snapshot, std::uint64_t nonce,
                  const std::string& module) {
  Saver{snapshot, nonce, module}.save(path);
}

}  // namespace tidemark::test
