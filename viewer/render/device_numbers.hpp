// The long lists of numbers of a device as JSON text: integers under names that need no escape. Pure.
#pragma once

#include "shared/base/device_basis.hpp"
#include "shared/base/kind_counts.hpp"

#include <optional>
#include <string>

namespace tidemark::viewer {

// {"active.all.allocated":0,...}: PyTorch's 122 keys.
void append_stats(std::string& text, const DeviceBasis& basis);

// {"managed":{"current_bytes":0,...},...}; null where nobody counts them.
void append_kinds(std::string& text, const std::optional<DeviceKindCounts>& kinds);

}  // namespace tidemark::viewer
