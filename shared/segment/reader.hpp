// A viewer's side of a segment. Read-only, and trusts no byte: every number in the file may be hostile.
//
// Copies with pread, never through a mapping, so that a file that shrinks meanwhile is a short read and not a SIGBUS.
// Threads: one at a time for each reader. Errors: NotFound, PermissionDenied, BadFormat (not a segment, damaged),
// WrongVersion (another major version, or a newer one that says older readers would misread it), System.
// All texts are cleaned (text.hpp): safe to print.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/base/device_basis.hpp"
#include "shared/base/kind_counts.hpp"
#include "shared/base/result.hpp"
#include "shared/segment/coverage.hpp"
#include "shared/segment/file_handle.hpp"
#include "shared/segment/mapping.hpp"
#include "shared/segment/process_words.hpp"
#include "shared/segment/record_scan.hpp"
#include "shared/segment/section_table.hpp"
#include "shared/segment/sequence.hpp"

namespace tidemark::segment {

// Replaced: the process lives and runs another program, which it got by exec. Once it has ended that can't be told from
// Killed any more.
enum class ProcessState { Live, Stopped, Exited, Killed, Replaced, Unreadable };
[[nodiscard]] const char* to_text(ProcessState state) noexcept;  // "live", ...

struct ProcessIdentity {
  std::uint64_t nonce = 0;
  std::string id;        // 8 hex digits
  std::int64_t pid = 0;  // as its own pid namespace counts
  std::int64_t parent_pid = 0;
  std::uint64_t start_ticks = 0;
  std::uint64_t ticks_per_second = 0;
  std::uint64_t pid_namespace = 0;
  std::uint64_t user_namespace = 0;
  std::uint64_t uid = 0;  // as the process sees itself; file_uid is the kernel's word
  std::uint64_t gid = 0;
  std::uint64_t file_uid = 0;
  std::uint64_t create_realtime_ns = 0;
  std::uint64_t create_monotonic_ns = 0;
  std::uint64_t create_boottime_ns = 0;
  std::string boot_id;  // 32 hex digits
  Rank rank;
  std::string comm;
  std::string executable;
  std::string command;
  std::string label;
  std::string shim_version;
  bool has_control = false;
};

struct ProcessGlobals {
  std::uint64_t heartbeat_count = 0;
  std::uint64_t heartbeat_realtime_ns = 0;
  std::uint64_t heartbeat_boottime_ns = 0;
  ProcessMode mode = ProcessMode::Unknown;
  std::uint64_t mode_realtime_ns = 0;
  std::string mode_reason;
  Layer layer = Layer::Undecided;
  std::uint64_t flags = 0;
  ControlPolicy control_policy = ControlPolicy::Unknown;
  InnerPool inner_pool = InnerPool::None;
  HookCounts hooks;
  std::uint64_t errors = 0;
  std::uint64_t last_error_code = 0;
  std::uint64_t last_error_native = 0;
  std::uint64_t requests_done = 0;
  std::uint64_t requests_refused = 0;
  std::uint64_t requests_ignored = 0;
  std::uint64_t exit_realtime_ns = 0;  // 0 = has not begun to exit
  bool approximate = false;

  [[nodiscard]] bool has(ProcessFlag flag) const noexcept { return (flags & static_cast<std::uint64_t>(flag)) != 0; }
};

struct DeviceSnapshot {
  std::uint32_t slot = 0;  // the device argument of requests
  std::uint64_t generation = 0;
  DeviceInfo info;  // name and PCI id cleaned
  DeviceBasis basis;
  std::optional<DeviceKindCounts> kinds;  // none: nobody counts them
  // The writer never let us have a consistent copy (stopped or killed in the middle of an update): each word is right
  // by itself, sums may be off by one event.
  bool approximate = false;
};

struct ProcessSnapshot {
  ProcessIdentity identity;
  ProcessState state = ProcessState::Live;
  // As this process counts; 0 = not visible from here (another container, without rights).
  std::int64_t pid = 0;
  ProcessGlobals globals;
  std::vector<DeviceSnapshot> devices;       // in slot order
  std::optional<HostKindCounts> host_kinds;  // as DeviceSnapshot::kinds
  bool has_newer_layout = false;             // a newer minor: what we don't know is left out
};

// What an earlier snapshot of the same segment tells a later one.
struct EarlierSnapshot {
  std::uint64_t heartbeat_count = 0;  // 0: there was none, or nobody beats
};

class SegmentReader {
 public:
  // `path` may be /proc/PID/fd/N (a memfd). A symbolic link elsewhere is refused.
  [[nodiscard]] static Result<SegmentReader> open(const std::string& path);

  [[nodiscard]] const ProcessIdentity& identity() const noexcept { return identity_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t device_id() const noexcept { return st_dev_; }
  [[nodiscard]] std::uint64_t inode() const noexcept { return st_ino_; }

  // With `earlier` a process is taken for running if it has beaten since then and just now, and not asked after in
  // /proc, which is half of what a snapshot costs: one that was stopped then is seen a look later. That it has ended is
  // seen at once in any case.
  [[nodiscard]] ProcessSnapshot snapshot(const ReadBudget& budget = {}, const EarlierSnapshot& earlier = {}) const;
  [[nodiscard]] ProcessGlobals globals(const ReadBudget& budget = {}) const;

  // Not a part of the snapshot, since few want them. None: nobody says it.
  [[nodiscard]] std::optional<CoverageList> coverage(const ReadBudget& budget = {}) const;
  [[nodiscard]] std::vector<Setting> settings() const;

  // Cut off since it was opened: what isn't there any more reads as nothing.
  [[nodiscard]] bool has_shrunk() const noexcept;

  // By the kernel's word: the owner holds a lock as long as its mapping exists.
  [[nodiscard]] bool is_owner_alive() const noexcept;
  [[nodiscard]] ProcessState state() const;
  // See ProcessSnapshot::pid. Reads /proc/locks where the owner lives in another pid namespace.
  [[nodiscard]] std::int64_t visible_pid() const;

  // The acknowledgement of a control slot, consistent or nothing (Timeout). Requires: `slot` < kAckSlots.
  [[nodiscard]] Result<Acknowledgement> acknowledgement(std::uint32_t slot) const;
  // Changes with every acknowledgement.
  [[nodiscard]] std::uint32_t ack_bell() const noexcept;
  // Returns when the bell is not `seen` any more, at the latest after `timeout`; may return early for no reason.
  void wait_for_bell(std::uint32_t seen, std::chrono::nanoseconds timeout) const noexcept;

 private:
  // The kinds as they were found last, and the sequences that they had: while those are the same, so are they.
  struct KindsSeen {
    std::vector<std::uint64_t> sequences;  // of the host's record, then of each device's; empty: not to be relied on
    std::optional<HostKindCounts> host;
    std::vector<std::optional<DeviceKindCounts>> devices;
  };

  SegmentReader() = default;
  [[nodiscard]] ProcessState state_of(std::int64_t pid) const;
  [[nodiscard]] bool is_replaced() const;
  [[nodiscard]] bool has_just_beaten(const RecordScan& scan, const EarlierSnapshot& earlier) const noexcept;
  [[nodiscard]] std::uint32_t devices_in(const RecordScan& scan) const noexcept;
  [[nodiscard]] FileRange range_of(std::uint32_t devices) const noexcept;
  [[nodiscard]] RecordScan begin_scan() const;
  void finish(RecordScan& scan) const;
  [[nodiscard]] std::vector<DeviceSnapshot> devices(const RecordScan& scan, const ReadBudget& budget) const;
  void add_kinds(ProcessSnapshot& snapshot, const ReadBudget& budget) const;
  [[nodiscard]] bool read_kinds(RecordScan& scan, FileRange range, std::uint32_t slots, const ReadBudget& budget) const;
  [[nodiscard]] bool is_active(const RecordScan& scan, std::uint32_t slot) const noexcept;
  [[nodiscard]] std::uint64_t bell_offset() const noexcept;

  FileHandle file_;
  std::string path_;
  std::uint64_t st_dev_ = 0;
  std::uint64_t st_ino_ = 0;
  std::uint64_t bytes_ = 0;
  bool has_newer_layout_ = false;
  bool is_in_our_namespace_ = false;
  Sections sections_;
  ProcessIdentity identity_;
  mutable Mapping bell_mapping_;  // for futex(2) alone, never dereferenced
  mutable KindsSeen kinds_seen_;
};

}  // namespace tidemark::segment
