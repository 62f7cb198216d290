// The sum from what a program asked for to what its device has in use, term by term. Pure.
#pragma once

#include "viewer/model/view.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tidemark::viewer {

// A line's number is the sum of the lines with a "+" since the last "="; an indented one is a part of the line above.
struct SumLine {
  std::string name;
  std::optional<std::uint64_t> bytes = std::nullopt;
  std::string remark{};  // why there is no number
};

// Exact to the byte: requested + rounding = allocated; + pending + cached = reserved; + kinds = held; + not ours = the
// driver's figure (where known). While frees are pending requested + rounding is active, and that falls into allocated
// and pending. No term is negative. The figure is NVML's where `node`, which may be null, has it; else what the
// program's driver last told the program.
[[nodiscard]] std::vector<SumLine> closing_sum_lines(const DeviceView& device, std::uint64_t now_ns,
                                                     const NodeDevice* node);

// What `node` knows of a process's device; null: nothing, or the process is dead and the node's figures are of now.
[[nodiscard]] const NodeDevice* node_device_of(std::span<const NodeDevice> node, const ProcessView& process,
                                               const DeviceView& device);

}  // namespace tidemark::viewer
