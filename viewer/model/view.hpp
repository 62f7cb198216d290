// What there is to see at one moment, ready to be drawn as a table, a screen or JSON. Values only: no drawing, no I/O.
#pragma once

#include "viewer/model/node_fact.hpp"

#include "shared/history/history.hpp"
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
  std::uint64_t split = 0;   // part of cached: free blocks in segments that are partly in use
  std::uint64_t pinned = 0;  // part of cached: free memory in segments that another process was given
  std::uint64_t reserved = 0;
  std::uint64_t reserved_peak = 0;
  std::uint64_t held = 0;
  std::uint64_t held_peak = 0;
  std::uint64_t allocations = 0;  // so far
  std::uint64_t retries = 0;
  std::uint64_t ooms = 0;
  std::optional<double> hit_percent = std::nullopt;  // of all allocations that could be a hit; none yet: unknown
  std::optional<std::uint64_t> capacity = std::nullopt;
  std::optional<std::uint64_t> limit = std::nullopt;
};

[[nodiscard]] Figures figures_of(const segment::DeviceSnapshot& device);

struct DeviceView {
  segment::DeviceSnapshot snapshot;
  std::string name;  // "cuda:0": the process's own ordinal
  std::string uuid;  // "GPU-9f3c01aa-..."
  Figures figures;
  std::uint64_t peak_since_ns = 0;                         // CLOCK_REALTIME
  std::optional<std::uint32_t> node_index = std::nullopt;  // as nvidia-smi counts; once the node was looked at
};

struct ProcessView {
  segment::ProcessSnapshot snapshot;
  std::vector<DeviceView> devices;
  std::optional<history::Recording> recording;  // none: there is no history, or it can't be read
  // By read_details() alone.
  std::optional<segment::CoverageList> coverage;
  std::vector<segment::Setting> settings;
  std::string container_id = {};                         // 64 hex digits; empty: none that we know
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

// What a table of many processes has no use for. Nothing without a reader.
void read_details(ProcessView& process);

[[nodiscard]] ProcessView view_of(segment::ProcessSnapshot snapshot);

// A segment that this user may not read.
struct HiddenProcess {
  std::string id;
  std::uint64_t pid = 0;
  std::uint64_t uid = 0;
};

enum class UsedSource { Unknown, Program, Nvml };

// A device of this machine, over all processes that use it.
struct NodeDevice {
  std::string uuid;
  std::string name;
  std::string ordinal;     // "cuda:0" if every process calls it so; empty where they differ, or none uses it
  std::string pci_bus_id;  // empty: unknown
  bool simulated = false;
  std::uint64_t capacity = 0;
  std::uint64_t held = 0;  // by living processes
  std::uint64_t cached = 0;
  std::optional<std::uint32_t> index = std::nullopt;  // as nvidia-smi counts
  // What NVML said, or else what the driver told one of the programs, and when (CLOCK_REALTIME).
  std::optional<std::uint64_t> used = std::nullopt;
  UsedSource used_source = UsedSource::Unknown;
  std::uint64_t used_time_ns = 0;
  std::uint64_t held_by_left_out = 0;  // living processes that aren't in the view (keep_only)

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
  std::vector<std::string> directories{};  // where it was looked
  NodeFacts node{};                        // nothing before somebody looked (viewer/node)
  bool is_choice = false;                  // keep_only() took processes out
  std::vector<NodeDevice> left_out{};      // the devices that these use
};

// What the node says of a process's device; null: nothing.
[[nodiscard]] const NodeFact* fact_of(const NodeFacts& facts, const DeviceView& device);

// In the order of their first process; then those that no process shown uses, unless keep_only() chose processes.
[[nodiscard]] std::vector<NodeDevice> node_devices(const View& view);

}  // namespace tidemark::viewer
