// The host process's side of its segment: makes the files, publishes, and removes them.
//
// Threads: create() and the destructor alone; everything else from any thread (one private lock, held for well under a
// microsecond). DeviceSlot::publish needs the caller's device lock instead.
// Errors: never throws. create() says why it could not (PermissionDenied, NoSpace, NotFound, Unsupported or System,
// with errno); the process then goes on unpublished, with default-constructed DeviceSlots. Nothing is logged here. Host
// rules: no allocation after create(), no signal, no thread, no umask; descriptors are closed before create() returns
// (Backing::Memfd keeps two, by which viewers find it).
// Fork: the mapping is not inherited. A child must not touch or destroy its copy of the object; it makes a new one in
// its place (placement new without destruction).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "shared/base/kind_counts.hpp"
#include "shared/base/result.hpp"
#include "shared/segment/coverage.hpp"
#include "shared/segment/device_slot.hpp"
#include "shared/segment/file_handle.hpp"
#include "shared/segment/names.hpp"
#include "shared/segment/process_words.hpp"

namespace tidemark::segment {

enum class Backing { Named, Memfd };

// TIDEMARK_ACCESS: who may read the counters: mode 0400, 0440, 0444.
enum class Access { Owner, Group, All };

// A file beside the segment that only viewers write. control::companion_file() describes the control file.
struct CompanionFile {
  std::size_t bytes = 0;
  void (*fill)(std::span<std::byte> image, std::uint64_t nonce) noexcept = nullptr;
};

// For tests that stop a creation in the middle. A step is reported when it is done.
enum class CreationStep {
  StatsCreated,
  StatsAllocated,
  StatsMapped,
  StatsFilled,
  StatsLocked,
  ControlCreated,
  ControlFilled,
  ControlRenamed,
  StatsSealed,  // mode 0400, or the memfd's seals
  StatsRenamed,
};
inline constexpr std::size_t kCreationSteps = 10;

struct WriterOptions {
  const char* directory = nullptr;  // nullptr: /dev/shm
  Backing backing = Backing::Named;
  Access access = Access::Owner;
  const CompanionFile* control = nullptr;  // nullptr: no control file
  std::string_view label{};
  std::string_view shim_version{};
  std::string_view command{};   // empty: from /proc/self
  std::string_view settings{};  // name, NUL, value, NUL, ...: what is in effect; what doesn't fit is left out
  Rank rank{};
  ControlPolicy control_policy = ControlPolicy::Off;
  void (*on_step)(CreationStep step, void* data) noexcept = nullptr;
  void* on_step_data = nullptr;
};

struct IdentityRecord;  // layout.hpp

class SegmentWriter {
 public:
  [[nodiscard]] static Result<SegmentWriter> create(const WriterOptions& options) noexcept;

  SegmentWriter(SegmentWriter&&) noexcept;
  SegmentWriter& operator=(SegmentWriter&&) noexcept;
  // Unmaps (which ends the lock: readers then see a dead process) and leaves the files.
  ~SegmentWriter();

  // Takes the next free slot and publishes who the device is and its first basis. NoSpace when all 16 are taken. Ask
  // once for each device.
  [[nodiscard]] Result<DeviceSlot> claim_device(const DeviceInfo& info, const DeviceBasis& basis) noexcept;
  // Requires: `slot` came from claim_device.
  void set_device_info(std::uint32_t slot, const DeviceInfo& info) noexcept;

  // Memory that is counted and not cached; until then it is unknown. Requires: `slot` came from claim_device.
  void set_kinds(std::uint32_t slot, const DeviceKindCounts& counts) noexcept;
  void set_host_kinds(const HostKindCounts& counts) noexcept;

  // How each function of ours was met so far, always the same ones in the same order; until then it is unknown. More
  // than kMostCoverageEntries are left out.
  void set_coverage(std::span<const CoverageEntry> entries) noexcept;

  void set_mode(ProcessMode mode, std::string_view reason) noexcept;
  void set_layer(Layer layer) noexcept;
  void set_flag(ProcessFlag flag, bool on) noexcept;
  void set_control_policy(ControlPolicy policy) noexcept;
  void set_inner_pool(InnerPool pool) noexcept;
  void count_error(ErrorCode code, int native) noexcept;
  void set_request_counts(std::uint64_t done, std::uint64_t refused, std::uint64_t ignored) noexcept;

  // A sign of life, with the counts so far. Call once a second from the service thread. Returns the beat's number, as
  // readers see it (ProcessGlobals::heartbeat_count).
  std::uint64_t beat(const HookCounts& counts) noexcept;

  // Publishes the state of a request and wakes whoever waits for one. Requires: `slot` < kAckSlots. The time is set
  // here.
  void acknowledge(std::uint32_t slot, const Acknowledgement& acknowledgement) noexcept;

  // The process is at its end; the counters stay as they are, `coverage` is the last.
  void mark_exited(std::span<const CoverageEntry> coverage = {}) noexcept;

  // Removes both files if their names still lead to what create() made, and only in the process that called create().
  // Where that can't be done (another user by now, another root) they are marked as garbage for collect_garbage().
  void remove_files() noexcept;

  // False: somebody removed the counters' file (rm, RemoveIPC); a new segment has to be made to be seen again.
  [[nodiscard]] bool is_name_present() const noexcept;

  [[nodiscard]] const char* path() const noexcept;  // "" for a memfd
  [[nodiscard]] std::uint64_t nonce() const noexcept;
  // Who the process is, as it was written once.
  [[nodiscard]] const IdentityRecord& identity() const noexcept;

  // For the control room. The address is a read-only mapping that must not be dereferenced (viewers can truncate the
  // file under it), only given to futex(2); nullptr: no control file.
  [[nodiscard]] const void* control_address() const noexcept;
  // Is the control file the one that create() made, and still its owner's alone? NotFound (removed, or the process has
  // another root), BadFormat (another file has its name), PermissionDenied (owner or mode changed, so somebody else may
  // write it): for good. System: it could not be seen this time.
  [[nodiscard]] Status check_control() const noexcept;
  // A copy of its bytes. System: cut off, or not to be had this time.
  [[nodiscard]] Status read_control(std::span<std::byte> into, std::size_t offset) const noexcept;
  // Does another open file of the control file hold the lock on that byte? None: that can't be told now.
  [[nodiscard]] std::optional<bool> is_control_locked(std::uint64_t offset) const noexcept;

 private:
  struct State;
  explicit SegmentWriter(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

}  // namespace tidemark::segment
