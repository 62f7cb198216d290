// Which processes and devices the words of a command line mean. Pure; mistakes throw Failure with what there is.
#pragma once

#include "viewer/model/view.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

// The process that TARGET (a pid, an id of 8 hex digits or a label) names: its index in view.processes. A living one
// wins over dead ones. Throws: NotFound, PermissionDenied (somebody else's), Usage (several; the line lists them).
[[nodiscard]] std::size_t resolve_target(const View& view, std::string_view target);

// Indices of the devices of `process` that `device` names: "cuda:0", "mtia:1", "0" where the process has one backend,
// "gpu:1" where the node was looked at (number_devices), a uuid's beginning in any case ("MTIA-73", "GPU-9f3c", or 4
// digits and more alone), "all". Throws: Usage (no such form, or several), NotFound (no such device there).
[[nodiscard]] std::vector<std::size_t> resolve_devices(const ProcessView& process, std::string_view device);

// Leaves only processes that one of `targets` names (by pid, id or label, dead ones too), and nobody else's.
void keep_only(View& view, const std::vector<std::string>& targets);

// "4711 (9f3c01aa, live) train.py": for messages.
[[nodiscard]] std::string describe(const ProcessView& process);

}  // namespace tidemark::viewer
