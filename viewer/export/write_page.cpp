#include "viewer/export/write_page.hpp"

#include "shared/segment/layout.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::viewer {
namespace {

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

class PageWriter {
 public:
  PageWriter(const Books& books, const ExporterState& state, std::chrono::steady_clock::time_point now,
             ReaderSet reader)
      : books_(books), state_(state), now_(now), reader_(reader) {}

  MetricPage write(const std::vector<KnownDevice>& devices) {
    for (const auto& [key, group] : books_.groups()) {
      add_group(key, group);
    }
    if (books_.options().per_process) {
      add_processes();
    }
    for (const KnownDevice& device : devices) {
      add_device(device);
    }
    const std::size_t left_out = add_members();
    add_exporter(left_out);
    return std::move(page_);
  }

 private:
  LabelSet labels_of(const GroupKey& key, const DeviceKey* device) {
    return page_.labels({{"backend", device == nullptr ? "" : device->backend},
                         {"uuid", device == nullptr ? "" : device->uuid},
                         {"command", key.command},
                         {"label", key.label},
                         {"id", key.id},
                         {"pid", key.pid}});
  }

  // Has this reader had its counters at 0?
  template <class Counted>
  [[nodiscard]] bool is_shown(const Counted& counted) const {
    return (counted.shown_to & reader_) != 0;
  }

  void add_group(const GroupKey& key, const Group& group) {
    const LabelSet labels = labels_of(key, nullptr);
    const auto counted = [&](std::uint64_t value) { return is_shown(group) ? value : 0; };
    page_.add(Metric::GroupProcesses, labels, group.processes);
    for (std::size_t i = 0; i < kHostKinds; ++i) {
      if (group.host_kinds[i]) {
        page_.add(Metric::HostKind, page_.with(labels, "kind", to_text(static_cast<HostKind>(i))),
                  *group.host_kinds[i]);
      }
    }
    page_.add(Metric::Untracked, labels, counted(group.untracked));
    page_.add(Metric::ForeignFrees, labels, counted(group.foreign_frees));
    page_.add(Metric::Exits, page_.with(labels, "how", "clean"), counted(group.exited));
    page_.add(Metric::Exits, page_.with(labels, "how", "killed"), counted(group.killed));
    for (const auto& [name, device] : group.devices) {
      const LabelSet of_device = labels_of(key, &name);
      add_counters(of_device, device);
      add_windows(of_device, device);
      if (device.now.processes > 0) {
        add_living(of_device, device.now);
      }
    }
  }

  // What is in use, by processes that live.
  void add_living(LabelSet labels, const LiveNumbers& now) {
    using enum Metric;
    page_.add(Requested, labels, now.sums.requested);
    page_.add(Allocated, labels, now.sums.allocated);
    page_.add(Active, labels, now.sums.allocated + now.sums.pending);
    page_.add(Reserved, labels, now.sums.reserved);
    page_.add(InactiveSplit, labels, now.sums.split);
    page_.add(Held, labels, now.sums.held);
    for (std::size_t i = 0; i < kDeviceKinds; ++i) {
      if (now.kinds[i]) {
        page_.add(Kind, page_.with(labels, "kind", to_text(static_cast<DeviceKind>(i))), *now.kinds[i]);
      }
    }
    if (now.limit) {
      page_.add(Limit, labels, *now.limit);
    }
    page_.add(RequestedPeak, labels, now.requested_peak);
    page_.add(AllocatedPeak, labels, now.peaks.allocated);
    page_.add(ActivePeak, labels, now.active_peak);
    page_.add(ReservedPeak, labels, now.peaks.reserved);
    page_.add(InactiveSplitPeak, labels, now.split_peak);
    page_.add(HeldPeak, labels, now.peaks.held);
    page_.add(AllocatedLifetimePeak, labels, now.lifetime_peaks.allocated);
    page_.add(ReservedLifetimePeak, labels, now.lifetime_peaks.reserved);
    page_.add(HeldLifetimePeak, labels, now.lifetime_peaks.held);
    page_.add(PeakReset, labels, seconds(now.peak_reset_ns));
    page_.add(LiveAllocations, labels, now.live_allocations);
    page_.add(Segments, labels, now.segments);
    page_.add(ActiveBlocks, labels, now.active_blocks);
    page_.add(InactiveSplitBlocks, labels, now.split_blocks);
  }

  // Also of a process that has just ended: a minute is longer than most servers wait. One that can't be asked could
  // have had a higher peak, so there is none for all.
  void add_windows(LabelSet labels, const DeviceGroup& device) {
    if (!state_.has_windows || device.unasked > 0) {
      return;
    }
    const Peaks peaks = device.window.highest(now_);
    if (device.now.processes > 0 || peaks != Peaks{}) {
      page_.add(Metric::AllocatedWindowPeak, labels, peaks.allocated);
      page_.add(Metric::ReservedWindowPeak, labels, peaks.reserved);
      page_.add(Metric::HeldWindowPeak, labels, peaks.held);
    }
  }

  // A server sees an increase between two pages only, so a series has to begin at 0.
  void add_counters(LabelSet labels, const DeviceGroup& device) {
    const DeviceCounters totals = is_shown(device) ? device.totals : DeviceCounters{};
    using enum Metric;
    page_.add(Allocations, labels, totals[DeviceCounter::Allocations]);
    page_.add(Deallocations, labels, totals[DeviceCounter::Deallocations]);
    page_.add(AllocationBytes, labels, totals[DeviceCounter::AllocationBytes]);
    page_.add(DeallocationBytes, labels, totals[DeviceCounter::DeallocationBytes]);
    page_.add(DriverAllocations, labels, totals[DeviceCounter::DriverAllocations]);
    page_.add(DriverDeallocations, labels, totals[DeviceCounter::DriverDeallocations]);
    page_.add(DriverSeconds, labels, seconds(totals[DeviceCounter::DriverNs]));
    page_.add(FreeWaitSeconds, labels, seconds(totals[DeviceCounter::FreeWaitNs]));
    page_.add(Retries, labels, totals[DeviceCounter::Retries]);
    page_.add(Ooms, labels, totals[DeviceCounter::Ooms]);
    page_.add(LimitRejections, labels, totals[DeviceCounter::LimitRejections]);
    page_.add(CacheFlushes, labels, totals[DeviceCounter::CacheFlushes]);
    page_.add(PassedThrough, labels, totals[DeviceCounter::PassedThrough]);
    page_.add(HeldAtExit, labels, is_shown(device) ? device.held_at_exit : 0);
    if (device.last_oom_ns != 0) {
      page_.add(LastOom, labels, seconds(device.last_oom_ns));
    }
  }

  void add_processes() {
    for (const ProcessView& process : books_.view().processes) {
      const GroupKey* const key = books_.group_of(process);
      if (!process.is_alive() || key == nullptr || key->command == kOtherCommand) {
        continue;
      }
      page_.add(Metric::ProcessInfo,
                page_.labels({{"command", key->command},
                              {"label", key->label},
                              {"id", key->id},
                              {"pid", key->pid},
                              {"ns_pid", fmt::format("{}", process.snapshot.identity.pid)},
                              {"start", fmt::format("{:.3f}", seconds(process.started_ns()))},
                              {"container_id", process.container_id},
                              {"user", fmt::format("{}", process.snapshot.identity.file_uid)}}),
                std::uint64_t{1});
    }
  }

  void add_device(const KnownDevice& known) {
    const NodeDevice& device = known.device;
    const std::string index = device.index ? fmt::format("gpu:{}", *device.index) : device.ordinal;
    const bool has_driver = known.backend == "cuda" && !device.simulated;
    page_.add(Metric::DeviceInfo,
              page_.labels({{"backend", known.backend},
                            {"uuid", device.uuid},
                            {"device", index},
                            {"model", device.name},
                            {"pci_bus_id", device.pci_bus_id},
                            {"driver", has_driver ? state_.driver_version : ""}}),
              std::uint64_t{1});
    const LabelSet labels = page_.labels({{"backend", known.backend}, {"uuid", device.uuid}});
    if (device.capacity != 0) {
      page_.add(Metric::DeviceCapacity, labels, device.capacity);
    }
    if (known.available) {
      page_.add(Metric::DeviceAvailable, labels, *known.available);
    }
    page_.add(Metric::DeviceClients, labels, known.clients);
  }

  // As many as there is room for; the number of series that there wasn't.
  std::size_t add_members() {
    constexpr std::size_t kSeriesOfMember = 4;
    std::size_t left_out = 0;
    for (const auto& [key, group] : books_.groups()) {
      for (const auto& [name, device] : group.devices) {
        if (key.command == kOtherCommand || device.now.members.empty()) {
          continue;
        }
        const LabelSet labels = labels_of(key, &name);
        for (const Member& member : device.now.members) {
          if (page_.size() + kSeriesOfMember > books_.options().max_series) {
            left_out += kSeriesOfMember;
            continue;
          }
          const LabelSet of_member = page_.with(labels, "rank", fmt::format("{}", member.rank));
          page_.add(Metric::MemberAllocated, of_member, member.allocated);
          page_.add(Metric::MemberHeld, of_member, member.held);
          page_.add(Metric::MemberAllocatedPeak, of_member, member.allocated_peak);
          page_.add(Metric::MemberReservedPeak, of_member, member.reserved_peak);
        }
      }
    }
    return left_out;
  }

  void add_exporter(std::size_t left_out) {
    const View& view = books_.view();
    const auto living = static_cast<std::uint64_t>(
        std::count_if(view.processes.begin(), view.processes.end(), [](const auto& one) { return one.is_alive(); }));
    const auto state = [&](const char* name, std::uint64_t count) {
      page_.add(Metric::Processes, page_.labels({{"state", name}}), count);
    };
    state("live", living);
    state("exited", view.processes.size() - living);
    state("unreadable", view.hidden.size());
    page_.add(Metric::Up, LabelSet::None, std::uint64_t{state_.is_up});
    page_.add(Metric::ScrapeDuration, LabelSet::None, state_.look_seconds);
    page_.add(Metric::SegmentErrors, page_.labels({{"reason", "damaged"}}), books_.damaged());
    page_.add(Metric::SegmentErrors, page_.labels({{"reason", "wrong_layout"}}), books_.wrong_layouts());
    page_.add(Metric::SeriesDropped, LabelSet::None, std::uint64_t{books_.folded_series() + left_out});
    page_.add(Metric::BuildInfo,
              page_.labels({{"version", TIDEMARK_VERSION},
                            {"segment_abi", fmt::format("{}.{}", segment::kMajor, segment::kMinor)}}),
              std::uint64_t{1});
  }

  const Books& books_;
  const ExporterState& state_;
  std::chrono::steady_clock::time_point now_;
  ReaderSet reader_;
  MetricPage page_;
};

}  // namespace

MetricPage write_page(const Books& books, const std::vector<KnownDevice>& devices, const ExporterState& state,
                      std::chrono::steady_clock::time_point now, ReaderSet reader) {
  return PageWriter{books, state, now, reader}.write(devices);
}

}  // namespace tidemark::viewer
