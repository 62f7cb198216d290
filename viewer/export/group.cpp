#include "viewer/export/group.hpp"

#include "shared/segment/derive.hpp"
#include "shared/segment/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::viewer {
namespace {

constexpr std::size_t kMostTextBytes = 64;

// The keys are of the fixed list, so they are there.
struct GroupKeys {
  segment::StatKey live_allocations = *segment::find_stat("allocation.all.current");
  segment::StatKey segments = *segment::find_stat("segment.all.current");
  segment::StatKey active_blocks = *segment::find_stat("active.all.current");
  segment::StatKey split_blocks = *segment::find_stat("inactive_split.all.current");
  segment::StatKey requested_peak = *segment::find_stat("requested_bytes.all.peak");
  segment::StatKey active_peak = *segment::find_stat("active_bytes.all.peak");
  segment::StatKey split_peak = *segment::find_stat("inactive_split_bytes.all.peak");
};

std::string base_name(std::string_view path) { return std::string{path.substr(path.rfind('/') + 1)}; }

}  // namespace

GroupKey key_of(const ProcessView& process, bool per_process) {
  const segment::ProcessIdentity& identity = process.snapshot.identity;
  std::string command = identity.command.empty() ? base_name(identity.executable) : identity.command;
  command = command.empty() ? "?" : segment::cut_text(command, kMostTextBytes);
  GroupKey key{.command = std::move(command), .label = identity.label, .id = {}, .pid = {}};
  if (per_process) {
    key.id = identity.id;
    key.pid = process.snapshot.pid == 0 ? "" : fmt::format("{}", process.snapshot.pid);
  }
  return key;
}

void LiveNumbers::add(const ProcessView& process, const DeviceView& device) {
  static const GroupKeys keys;
  const DeviceBasis& basis = device.snapshot.basis;
  const Figures& figures = device.figures;
  const auto stat = [&](segment::StatKey key) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(segment::stat_value(basis, key), 0));
  };
  const auto raise = [](std::uint64_t& highest, std::uint64_t value) { highest = std::max(highest, value); };
  ++processes;
  sums.requested += figures.requested;
  sums.allocated += figures.allocated;
  sums.pending += figures.pending;
  sums.split += figures.split;
  sums.reserved += figures.reserved;
  sums.held += figures.held;
  live_allocations += stat(keys.live_allocations);
  segments += stat(keys.segments);
  active_blocks += stat(keys.active_blocks);
  split_blocks += stat(keys.split_blocks);
  raise(requested_peak, stat(keys.requested_peak));
  raise(active_peak, stat(keys.active_peak));
  raise(split_peak, stat(keys.split_peak));
  peaks = Peaks::highest(peaks, {figures.allocated_peak, figures.reserved_peak, figures.held_peak});
  lifetime_peaks = Peaks::highest(
      lifetime_peaks, {basis[BasisWord::lifetime_peak_allocated_bytes], basis[BasisWord::lifetime_peak_reserved_bytes],
                       basis[BasisWord::lifetime_peak_held_bytes]});
  raise(peak_reset_ns, device.peak_since_ns);
  if (figures.limit) {
    limit = std::min(limit.value_or(*figures.limit), *figures.limit);
  }
  for (std::size_t i = 0; device.snapshot.kinds && i < kDeviceKinds; ++i) {
    const KindCount& kind = device.snapshot.kinds->kinds[i];
    if (kind.total_count > 0) {
      kinds[i] = kinds[i].value_or(0) + kind.current_bytes;
    }
  }
  if (const std::int64_t rank = process.snapshot.identity.rank.global; rank >= 0) {
    const auto place = std::lower_bound(members.begin(), members.end(), rank,
                                        [](const Member& member, std::int64_t value) { return member.rank < value; });
    Member& member = place != members.end() && place->rank == rank ? *place : *members.insert(place, {.rank = rank});
    member.allocated += figures.allocated;
    member.held += figures.held;
    raise(member.allocated_peak, figures.allocated_peak);
    raise(member.reserved_peak, figures.reserved_peak);
  }
}

}  // namespace tidemark::viewer
