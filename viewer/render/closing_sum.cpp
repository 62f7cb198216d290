#include "viewer/render/closing_sum.hpp"

#include "viewer/duration_text.hpp"
#include "viewer/size_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tidemark::viewer {

std::vector<SumLine> closing_sum_lines(const DeviceView& device, std::uint64_t now_ns, const NodeDevice* node) {
  const Figures& figures = device.figures;
  std::vector<SumLine> lines;
  const auto line = [&](std::string_view name, std::uint64_t bytes) {
    lines.push_back({.name = std::string{name}, .bytes = bytes});
  };
  const auto unknown = [&](std::string_view name, std::string why) {
    lines.push_back({.name = std::string{name}, .bytes = std::nullopt, .remark = std::move(why)});
  };
  // What is left of `whole`. Below zero only where a process stopped in the middle of an update, as it says above.
  const auto rest = [&](std::string_view name, std::uint64_t whole, std::uint64_t part) {
    whole >= part ? line(name, whole - part) : unknown(name, "");
  };
  line("requested by the program", figures.requested);
  if (figures.pending == 0) {
    rest("+ rounding", figures.allocated, figures.requested);
    line("= allocated", figures.allocated);
    line("+ freed, device work pending", 0);
  } else {
    // A size counts as requested until its free is complete, so that rounding is a part of active, not of allocated.
    rest("+ rounding", figures.allocated + figures.pending, figures.requested);
    line("= active", figures.allocated + figures.pending);
    line("    of it allocated", figures.allocated);
    line("    of it freed, device work pending", figures.pending);
  }
  line("+ cached", figures.cached);
  line("= reserved", figures.reserved);
  if (!device.snapshot.kinds) {
    unknown("+ other kinds on the device", "unknown: below this runtime nobody counts them");
  } else {
    rest("+ other kinds on the device", figures.held, figures.reserved);
    for (std::size_t i = 0; i < kDeviceKinds; ++i) {
      const auto kind = static_cast<DeviceKind>(i);
      const std::uint64_t bytes = (*device.snapshot.kinds)[kind].current_bytes;
      if (is_on_device(kind) && bytes > 0) {
        line(fmt::format("    of it {}", to_text(kind)), bytes);
      }
    }
  }
  line("= held", figures.held);
  if (node != nullptr && node->used_source == UsedSource::Nvml) {
    // Now, and of the whole node: what other processes hold that are seen here is known to be theirs.
    const std::uint64_t used = *node->used;
    const std::uint64_t others = node->held - figures.held;
    if (others > 0) {
      line("+ held by other processes seen here", others);
    }
    if (used < node->held) {
      unknown("+ not ours", fmt::format("unknown: NVML says {} used", size_words(used)));
      return lines;
    }
    line("+ not ours", used - node->held);
    line("= used, as NVML says", used);
    return lines;
  }
  const DeviceBasis& basis = device.snapshot.basis;
  const std::uint64_t total = basis[BasisWord::driver_total_bytes];
  const std::uint64_t free = basis[BasisWord::driver_free_bytes];
  const std::uint64_t asked = basis[BasisWord::driver_info_time_ns];
  if (asked == 0 || free > total) {
    unknown("+ not ours", "unknown: the program never asked its driver");
    return lines;
  }
  const std::uint64_t used = total - free;
  if (used < figures.held) {
    unknown("+ not ours",
            fmt::format("unknown: the driver said {} used {} ago", size_words(used), ago_words(asked, now_ns)));
    return lines;
  }
  line("+ not ours", used - figures.held);
  line(fmt::format("= used, as the driver said {} ago", ago_words(asked, now_ns)), used);
  return lines;
}

const NodeDevice* node_device_of(std::span<const NodeDevice> node, const ProcessView& process,
                                 const DeviceView& device) {
  const auto found = std::find_if(node.begin(), node.end(), [&](const NodeDevice& known) {
    return process.is_alive() && known.uuid == device.uuid;
  });
  return found == node.end() ? nullptr : &*found;
}

}  // namespace tidemark::viewer
