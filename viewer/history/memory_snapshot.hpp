// A process's memory at one moment, and how it came there: what every document and report is made of. Values only.
//
// Devices, segments, blocks and events are a history's own words (shared/history/history.hpp); stacks have become
// names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/history/history.hpp"

namespace tidemark::viewer {

// One call of a stack. Never empty: where nothing better is known, `name` is the address and `file` is kNoFile.
struct Frame {
  std::string name{};
  std::string file{};
  std::uint32_t line = 0;

  bool operator==(const Frame&) const = default;
};

// PyTorch's word for a file that is not known.
inline constexpr std::string_view kNoFile = "??";
// The only frame of a block that was there before anybody recorded.
inline constexpr std::string_view kBeforeRecording = "(allocated before the recording began)";

// The outermost frame of a stack that was not taken as far as it goes.
inline constexpr std::string_view kMoreCalls = "(more calls)";
inline constexpr std::string_view kLostCalls = "(calls that could not be read)";

using Frames = std::vector<Frame>;  // innermost first

// Who this was. What a saved file doesn't tell is empty.
struct SnapshotSource {
  std::string id{};
  std::string title{};     // label and command
  std::string settings{};  // TIDEMARK_ALLOC_CONF, as the process took it
  bool has_ended = false;  // killed, or left of its own
  bool is_file = false;    // nobody was asked: it was saved
};

struct MemorySnapshot {
  SnapshotSource source{};
  history::Recording recording{};
  std::vector<history::Device> devices{};
  std::vector<Frames> stacks{};  // by StackId; [0] is empty
  // The events' sizes are what was asked for, rounded here: other people's snapshots tell no more.
  bool has_guessed_sizes = false;

  // The moment that it shows, CLOCK_REALTIME; 0: not known.
  [[nodiscard]] std::uint64_t time_ns() const;
  // Were stacks recorded? Of what was there before, and where nothing was allocated since, there are none all the same.
  [[nodiscard]] bool has_stacks() const {
    return stacks.size() > 1 ||
           (recording.enabled != history::Enabled::Off && recording.stacks != history::Stacks::None);
  }
};

// "cuda:0", "mtia:1"; "device 0" of a backend that we don't know.
[[nodiscard]] std::string device_name(const segment::DeviceInfo& info);

inline constexpr std::size_t kMostDeviceNumbers = 256;

// The number that a document gives each device: the process's own, but with two backends MTIA's come behind CUDA's,
// since a document has only numbers.
[[nodiscard]] std::vector<std::size_t> document_indices(const std::vector<history::Device>& devices);

// What a block's stack is called: its own, kBeforeRecording, or none.
[[nodiscard]] const Frames& frames_of(const MemorySnapshot& snapshot, const history::Block& block);
[[nodiscard]] const Frames& frames_at(const MemorySnapshot& snapshot, history::StackId stack);

[[nodiscard]] constexpr bool is_held(const history::Block& block) {
  return block.state == history::BlockState::Allocated;
}
[[nodiscard]] constexpr bool is_pending(const history::Block& block) {
  return block.state == history::BlockState::Pending;
}
[[nodiscard]] constexpr bool is_free(const history::Block& block) {
  return block.state == history::BlockState::Inactive;
}

}  // namespace tidemark::viewer
