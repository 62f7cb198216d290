// `show` for people: one process, every counter with its meaning, and the sum from the program's request to the
// device's memory. Pure.
#pragma once

#include "viewer/clean_text.hpp"
#include "viewer/model/view.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace tidemark::viewer {

// `node`: the node's devices, for the end of the sums.
[[nodiscard]] std::string show_text(const ProcessView& process, std::uint64_t now_ns, Charset charset,
                                    std::span<const NodeDevice> node = {});

// Its parts, one line each thing that is said: what it is and how it came to be seen; a device, its limit and mode.
[[nodiscard]] std::string process_paragraph(const ProcessView& process, std::uint64_t now_ns);
[[nodiscard]] std::string device_paragraph(const DeviceView& device, std::uint64_t now_ns);

}  // namespace tidemark::viewer
