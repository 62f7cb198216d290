// What a reader has found in a history: plain values, every one checked, times since the Unix epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/device_basis.hpp"
#include "shared/history/words.hpp"
#include "shared/segment/process_words.hpp"

namespace tidemark::history {

struct Event {
  std::uint64_t number = 0;  // of all events of the device, from 0
  Action action = Action::None;
  bool is_large = false;
  StackId stack = 0;  // in History::stacks; a free's is that of its allocation, if it has none of its own
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t requested = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t context = 0;
  std::uint64_t device_free = 0;  // of an out-of-memory
};

struct Block {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t requested = 0;  // of one in use or pending
  BlockState state = BlockState::None;
  StackId stack = 0;
  // None: not known. Of a block that is older than the recording to about a second.
  std::optional<std::uint64_t> birth_ns{};
  bool is_older = false;  // than the recording: its stack is not known
};

struct Segment {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t context = 0;
  bool is_large = false;
  bool passed_through = false;
  bool is_pinned = false;
  StackId stack = 0;
  std::optional<std::uint64_t> birth_ns{};
  // By address, without a gap: where the file says nothing, there is one of state Unknown.
  std::vector<Block> blocks{};
};

struct Device {
  std::uint32_t slot = 0;  // in the process's counters
  segment::DeviceInfo info;
  std::uint64_t since_ns = 0;
  std::vector<Segment> segments{};     // by address
  std::vector<Event> events{};         // oldest first
  std::uint64_t events_ever = 0;       // since the recording began
  std::uint64_t changes_lost = 0;      // of blocks and segments that found no place in their table
  std::optional<DeviceBasis> basis{};  // of a snapshot
  // Blocks and events were read while they changed, or damaged: they may not fit together.
  bool is_approximate = false;
};

struct PythonFrameText {
  std::string name{};
  std::string file{};
  std::uint32_t line = 0;
};

struct Stack {
  std::vector<std::uint64_t> addresses{};  // innermost first, return addresses
  StackEnd end = StackEnd::Outermost;
  std::vector<PythonFrameText> python{};  // innermost first
  StackEnd python_end = StackEnd::Outermost;
  std::uint64_t first_seen_ns = 0;
};

struct Module {
  std::uint64_t bias = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::string path{};
  std::vector<std::uint8_t> build_id{};
  std::uint64_t since_ns = 0;
  std::optional<std::uint64_t> gone_ns{};
};

struct Recording {
  Kind kind = Kind::Live;
  Reason reason = Reason::None;
  std::uint64_t nonce = 0;  // the segment's
  std::int64_t pid = 0;     // as its own pid namespace counts
  std::string label{};      // empty: none
  std::string command{};    // empty: of a process without a segment
  Enabled enabled = Enabled::Off;
  Stacks stacks = Stacks::None;
  std::uint64_t max_entries = 0;
  std::uint64_t since_ns = 0;
  std::optional<std::uint64_t> taken_ns{};  // of a snapshot
  // Events that others have taken the places of, and what found no place in a table.
  std::uint64_t lost = 0;
  std::uint64_t python_omitted = 0;  // stacks whose Python frames could not be read
};

struct History {
  Recording recording;
  std::vector<Device> devices{};
  std::vector<Stack> stacks{};  // [0] is the empty one
  std::vector<Module> modules{};
};

}  // namespace tidemark::history
