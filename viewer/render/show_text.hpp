// `show` for people: one process, every counter with its meaning, and the sum from the program's request to the
// device's memory. Pure.
#pragma once

#include "viewer/clean_text.hpp"
#include "viewer/model/view.hpp"

#include <cstdint>
#include <string>

namespace tidemark::viewer {

[[nodiscard]] std::string show_text(const ProcessView& process, std::uint64_t now_ns, Charset charset);

// The closing sum of a device, exact to the byte: requested + rounding = allocated; + pending + cached = reserved;
// + kinds = held; + not ours = the driver's figure (where known).
[[nodiscard]] std::string closing_sum(const DeviceView& device, std::uint64_t now_ns);

}  // namespace tidemark::viewer
