// What happens to memory, as it is seen by looking again and again: out-of-memories, and use that goes above a
// threshold. Values only.
#pragma once

#include "viewer/model/view.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::viewer {

enum class EventKind { OutOfMemory, Above };
[[nodiscard]] std::string_view to_text(EventKind kind);  // "oom", "above"

struct MemoryEvent {
  EventKind kind = EventKind::OutOfMemory;
  std::int64_t pid = 0;
  std::string id;
  std::string label;
  std::string title;
  std::string device;
  std::uint64_t times = 1;                       // since the last look; the numbers are the last one's
  std::optional<std::uint64_t> requested_bytes;  // of an out-of-memory
  std::uint64_t allocated_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t held_bytes = 0;
  std::optional<std::uint64_t> free_bytes;  // of the device, as the driver told the program
  std::optional<std::uint64_t> total_bytes;
  std::uint64_t time_ns = 0;  // CLOCK_REALTIME
};

// Of what a process holds on a device: bytes, or percent of its limit there, else of the device's memory.
struct Threshold {
  std::optional<std::uint64_t> bytes;
  double percent = 0;

  // nullopt: neither a size nor "90%".
  [[nodiscard]] static std::optional<Threshold> parse(std::string_view text);
  // nullopt: percent of what nobody knows.
  [[nodiscard]] std::optional<std::uint64_t> bytes_for(const DeviceView& device) const;
};

class MemoryEvents {
 public:
  explicit MemoryEvents(std::optional<Threshold> above) : above_(above) {}

  // What is new since the last look. An out-of-memory that was before the first look is none; every one of a process
  // that began later is. Going above the threshold is told once, and again after use was a twentieth below it.
  [[nodiscard]] std::vector<MemoryEvent> look(const View& view);

 private:
  struct Seen {
    std::uint64_t ooms = 0;
    bool is_above = false;
    bool is_there = false;  // in the last look
  };

  void look_at(const ProcessView& process, const DeviceView& device, std::uint64_t now_ns,
               std::vector<MemoryEvent>& events);

  const std::optional<Threshold> above_;
  bool is_first_ = true;
  std::map<std::pair<std::string, std::string>, Seen> seen_;  // by the process's id and the device's name
};

}  // namespace tidemark::viewer
