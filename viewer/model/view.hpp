// What there is to see at one moment, ready to be drawn as a table, a screen or JSON. Values only: no drawing, no I/O.
#pragma once

#include "shared/segment/reader.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::viewer {

// The numbers that rows and sums are made of, in bytes and counts.
struct Figures {
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
  std::uint64_t allocated_peak = 0;
  std::uint64_t pending = 0;  // freed by the program, the device not yet done with it
  std::uint64_t cached = 0;
  std::uint64_t reserved = 0;
  std::uint64_t reserved_peak = 0;
  std::uint64_t held = 0;
  std::uint64_t held_peak = 0;
  std::uint64_t retries = 0;
  std::uint64_t ooms = 0;
  std::optional<double> hit_percent;  // of all allocations that could be a hit; none yet: unknown
  std::optional<std::uint64_t> capacity;
  std::optional<std::uint64_t> limit;
};

[[nodiscard]] Figures figures_of(const segment::DeviceSnapshot& device);

struct DeviceView {
  segment::DeviceSnapshot snapshot;
  std::string name;  // "cuda:0": the process's own ordinal
  std::string uuid;  // "GPU-9f3c01aa-..."
  Figures figures;
  std::uint64_t peak_since_ns = 0;  // CLOCK_REALTIME
};

struct ProcessView {
  segment::ProcessSnapshot snapshot;
  std::vector<DeviceView> devices;
  std::shared_ptr<const segment::SegmentReader> reader;  // for acting; null in tests of drawing

  [[nodiscard]] const std::string& id() const { return snapshot.identity.id; }
  [[nodiscard]] bool is_alive() const {
    return snapshot.state == segment::ProcessState::Live || snapshot.state == segment::ProcessState::Stopped;
  }
  // The pid to show: as the viewer counts, else (not visible, dead) as the process did.
  [[nodiscard]] std::int64_t pid() const { return snapshot.pid != 0 ? snapshot.pid : snapshot.identity.pid; }
  // Label and command as one column: "eval: train.py", "train.py".
  [[nodiscard]] std::string title() const;
  [[nodiscard]] std::uint64_t started_ns() const;  // CLOCK_REALTIME
};

[[nodiscard]] ProcessView view_of(segment::ProcessSnapshot snapshot);

// A segment that this user may not read.
struct HiddenProcess {
  std::string id;
  std::uint64_t pid = 0;
  std::uint64_t uid = 0;
};

// A device of this machine, over all processes that use it.
struct NodeDevice {
  std::string uuid;
  std::string name;
  std::string ordinal;     // "cuda:0" if every process calls it so; empty where they differ
  std::string pci_bus_id;  // empty: unknown
  bool simulated = false;
  std::uint64_t capacity = 0;
  std::uint64_t held = 0;  // by living processes
  std::uint64_t cached = 0;
  // What the driver told one of the programs, and when (CLOCK_REALTIME).
  std::optional<std::uint64_t> used = std::nullopt;
  std::uint64_t used_time_ns = 0;

  // The part that no process of ours holds; unknown where the driver's word is older than what is held now.
  [[nodiscard]] std::optional<std::uint64_t> not_ours() const;
};

// A file with a segment's name that is none, or none that this version reads.
struct SkippedSegment {
  std::string path;
  std::string id;  // as its name says; empty where it has none (memfd)
  std::uint64_t pid = 0;
  std::string reason;
  bool wrong_layout = false;
};

struct View {
  std::string host;
  std::uint64_t time_ns = 0;  // CLOCK_REALTIME
  std::vector<ProcessView> processes;
  std::vector<HiddenProcess> hidden;
  std::vector<SkippedSegment> skipped;
};

// Requires nothing of the order; devices come in the order of their first process.
[[nodiscard]] std::vector<NodeDevice> node_devices(const View& view);

}  // namespace tidemark::viewer
