// Every metric of the exporter: its name, type, unit and meaning, in the order of the page. Both text formats, the
// documents and the tests of dashboards and rules read this one list.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::viewer {

enum class MetricType { Gauge, Counter, Info };
enum class MetricUnit { None, Bytes, Seconds };

// What a metric's samples are told apart by, beside what each of them says itself.
enum class MetricScope {
  Group,     // backend, uuid, command, label: the processes of one program on one device
  Member,    // the same, and rank
  Programs,  // command, label: the processes of one program
  Process,   // one process
  Device,    // backend, uuid
  Exporter,  // the exporter and the node
};

// X(enumerator, name, type, unit, scope, help)
#define TIDEMARK_METRICS(X)                                                                                           \
  X(Requested, "tidemark_requested_bytes", Gauge, Bytes, Group, "Asked for by the programs and still held.")          \
  X(Allocated, "tidemark_allocated_bytes", Gauge, Bytes, Group, "Handed out to the programs, after rounding.")        \
  X(Active, "tidemark_active_bytes", Gauge, Bytes, Group, "Allocated, and freed with device work still pending.")     \
  X(Reserved, "tidemark_reserved_bytes", Gauge, Bytes, Group, "Taken from the driver: active and cached.")            \
  X(InactiveSplit, "tidemark_inactive_split_bytes", Gauge, Bytes, Group,                                              \
    "Free in segments that are partly in use, so that it cannot be given back.")                                      \
  X(Held, "tidemark_held_bytes", Gauge, Bytes, Group, "Of the device: reserved, and all other kinds on it.")          \
  X(Kind, "tidemark_kind_bytes", Gauge, Bytes, Group,                                                                 \
    "Memory that is not cached, by kind. A kind that no living process ever used is absent.")                         \
  X(Limit, "tidemark_limit_bytes", Gauge, Bytes, Group, "The lowest limit of a process. Absent: none has one.")       \
  X(RequestedPeak, "tidemark_requested_peak_bytes", Gauge, Bytes, Group,                                              \
    "Most requested at once by one process since its last reset. Peaks of other metrics are of other moments.")       \
  X(AllocatedPeak, "tidemark_allocated_peak_bytes", Gauge, Bytes, Group,                                              \
    "Most allocated at once by one process since its last reset. Peaks of other metrics are of other moments.")       \
  X(ActivePeak, "tidemark_active_peak_bytes", Gauge, Bytes, Group,                                                    \
    "Most active at once in one process since its last reset. Peaks of other metrics are of other moments.")          \
  X(ReservedPeak, "tidemark_reserved_peak_bytes", Gauge, Bytes, Group,                                                \
    "Most reserved at once by one process since its last reset. Peaks of other metrics are of other moments.")        \
  X(InactiveSplitPeak, "tidemark_inactive_split_peak_bytes", Gauge, Bytes, Group,                                     \
    "Most inactive-split at once in one process since its last reset. Peaks of other metrics are of other moments.")  \
  X(HeldPeak, "tidemark_held_peak_bytes", Gauge, Bytes, Group,                                                        \
    "Most held at once by one process since its last reset. Peaks of other metrics are of other moments.")            \
  X(AllocatedWindowPeak, "tidemark_allocated_window_peak_bytes", Gauge, Bytes, Group,                                 \
    "Most allocated at once by one process in the last 60 s, whoever scrapes. Absent: not known.")                    \
  X(ReservedWindowPeak, "tidemark_reserved_window_peak_bytes", Gauge, Bytes, Group,                                   \
    "Most reserved at once by one process in the last 60 s, whoever scrapes. Absent: not known.")                     \
  X(HeldWindowPeak, "tidemark_held_window_peak_bytes", Gauge, Bytes, Group,                                           \
    "Most held at once by one process in the last 60 s, whoever scrapes. Absent: not known.")                         \
  X(AllocatedLifetimePeak, "tidemark_allocated_lifetime_peak_bytes", Gauge, Bytes, Group,                             \
    "Most allocated at once by one process since it began; nothing resets it.")                                       \
  X(ReservedLifetimePeak, "tidemark_reserved_lifetime_peak_bytes", Gauge, Bytes, Group,                               \
    "Most reserved at once by one process since it began; nothing resets it.")                                        \
  X(HeldLifetimePeak, "tidemark_held_lifetime_peak_bytes", Gauge, Bytes, Group,                                       \
    "Most held at once by one process since it began; nothing resets it.")                                            \
  X(PeakReset, "tidemark_peak_reset_timestamp_seconds", Gauge, Seconds, Group,                                        \
    "When the peaks of a process were reset last, else its first allocation; the latest of all.")                     \
  X(LiveAllocations, "tidemark_live_allocations", Gauge, None, Group, "Blocks that the programs hold.")               \
  X(Segments, "tidemark_segments", Gauge, None, Group, "Pieces of memory taken from the driver.")                     \
  X(ActiveBlocks, "tidemark_active_blocks", Gauge, None, Group, "Blocks held, or freed with work pending.")           \
  X(InactiveSplitBlocks, "tidemark_inactive_split_blocks", Gauge, None, Group,                                        \
    "Free blocks in segments that are partly in use.")                                                                \
  X(Allocations, "tidemark_allocations_total", Counter, None, Group, "Allocations served.")                           \
  X(Deallocations, "tidemark_deallocations_total", Counter, None, Group, "Frees served.")                             \
  X(AllocationBytes, "tidemark_allocation_bytes_total", Counter, Bytes, Group, "Bytes handed out.")                   \
  X(DeallocationBytes, "tidemark_deallocation_bytes_total", Counter, Bytes, Group, "Bytes taken back.")               \
  X(DriverAllocations, "tidemark_driver_allocations_total", Counter, None, Group,                                     \
    "Allocations that reached the driver, and succeeded.")                                                            \
  X(DriverDeallocations, "tidemark_driver_deallocations_total", Counter, None, Group, "Frees by the driver.")         \
  X(DriverSeconds, "tidemark_driver_allocation_seconds_total", Counter, Seconds, Group,                               \
    "Time that driver allocations and frees took.")                                                                   \
  X(FreeWaitSeconds, "tidemark_free_wait_seconds_total", Counter, Seconds, Group,                                     \
    "Time that frees waited for the device.")                                                                         \
  X(Retries, "tidemark_allocation_retries_total", Counter, None, Group,                                               \
    "Allocations that failed, gave the cache back and were tried again.")                                             \
  X(Ooms, "tidemark_ooms_total", Counter, None, Group, "Allocations that failed for good.")                           \
  X(LimitRejections, "tidemark_limit_rejections_total", Counter, None, Group,                                         \
    "Of these, allocations that did not fit below the limit, whatever the device had left.")                          \
  X(CacheFlushes, "tidemark_cache_flushes_total", Counter, None, Group,                                               \
    "Times that the whole cache was given back, for want of memory or on request.")                                   \
  X(PassedThrough, "tidemark_passed_through_allocations_total", Counter, None, Group,                                 \
    "Allocations that the driver made in the program's own size, uncached.")                                          \
  X(HeldAtExit, "tidemark_held_at_exit_bytes_total", Counter, Bytes, Group,                                           \
    "Allocated when a process ended. The driver has taken it back: not a leak by itself.")                            \
  X(LastOom, "tidemark_last_oom_timestamp_seconds", Gauge, Seconds, Group,                                            \
    "When an allocation failed last, of living processes and of dead ones. Absent: none did.")                        \
  X(MemberAllocated, "tidemark_member_allocated_bytes", Gauge, Bytes, Member, "Allocated by one rank of a job.")      \
  X(MemberHeld, "tidemark_member_held_bytes", Gauge, Bytes, Member, "Held of the device by one rank of a job.")       \
  X(MemberAllocatedPeak, "tidemark_member_allocated_peak_bytes", Gauge, Bytes, Member,                                \
    "Most allocated at once by one rank of a job since its last reset.")                                              \
  X(MemberReservedPeak, "tidemark_member_reserved_peak_bytes", Gauge, Bytes, Member,                                  \
    "Most reserved at once by one rank of a job since its last reset.")                                               \
  X(GroupProcesses, "tidemark_group_processes", Gauge, None, Programs, "Living processes of a program.")              \
  X(HostKind, "tidemark_host_kind_bytes", Gauge, Bytes, Programs,                                                     \
    "Memory of the host that the driver made or pinned, by kind. Absent: not counted.")                               \
  X(Untracked, "tidemark_untracked_allocations_total", Counter, None, Programs,                                       \
    "Successful calls that took memory which is in no number here.")                                                  \
  X(ForeignFrees, "tidemark_foreign_frees_total", Counter, None, Programs,                                            \
    "Frees of pointers that nothing here knows, handed on to the driver: often the sign of a double free.")           \
  X(Exits, "tidemark_exits_total", Counter, None, Programs, "Processes that ended: in their own way, or killed.")     \
  X(ProcessInfo, "tidemark_process_info", Info, None, Process, "One process; with --per-process alone.")              \
  X(DeviceInfo, "tidemark_device_info", Info, None, Device, "Which device it is.")                                    \
  X(DeviceCapacity, "tidemark_device_capacity_bytes", Gauge, Bytes, Device, "Memory of the device.")                  \
  X(DeviceAvailable, "tidemark_device_available_bytes", Gauge, Bytes, Device,                                         \
    "Free on the device, by the driver's word of the last 60 s. Absent: nobody asked it.")                            \
  X(DeviceClients, "tidemark_device_clients", Gauge, None, Device, "Living processes seen that use it.")              \
  X(Processes, "tidemark_processes", Gauge, None, Exporter,                                                           \
    "Processes with a segment: live, ended (as long as its file stays), or another user's.")                          \
  X(Up, "tidemark_up", Gauge, None, Exporter, "1: the segments' directory can be looked into.")                       \
  X(ScrapeDuration, "tidemark_scrape_duration_seconds", Gauge, Seconds, Exporter, "What looking for this page took.") \
  X(SegmentErrors, "tidemark_segment_errors_total", Counter, None, Exporter,                                          \
    "Files with a segment's name that could not be used.")                                                            \
  X(SeriesDropped, "tidemark_series_dropped", Gauge, None, Exporter,                                                  \
    "Series that are missing or folded into command=\"_other\", because of --max-series.")                            \
  X(BuildInfo, "tidemark_build_info", Info, None, Exporter, "Which exporter this is.")

enum class Metric : std::uint32_t {
#define X(id, ...) id,
  TIDEMARK_METRICS(X)
#undef X
      count_
};
inline constexpr std::size_t kMetrics = static_cast<std::size_t>(Metric::count_);

struct MetricInfo {
  std::string_view name;
  MetricType type;
  MetricUnit unit;
  MetricScope scope;
  std::string_view help;
};

inline constexpr std::array<MetricInfo, kMetrics> kMetricList{{
#define X(id, name, type, unit, scope, help) {name, MetricType::type, MetricUnit::unit, MetricScope::scope, help},
    TIDEMARK_METRICS(X)
#undef X
}};

[[nodiscard]] constexpr const MetricInfo& info_of(Metric metric) {
  return kMetricList[static_cast<std::size_t>(metric)];
}

}  // namespace tidemark::viewer
