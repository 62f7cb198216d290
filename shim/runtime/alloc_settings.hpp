// TIDEMARK_ALLOC_CONF (PyTorch's syntax, `key:value,key:value`) and TIDEMARK_LIMIT, as changes to a device's policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "shim/alloc/policy.hpp"
#include "shim/runtime/options.hpp"

namespace tidemark::runtime {

// "cuda" or "mtia", and the process's own ordinal.
struct DeviceName {
  std::string_view backend;
  int ordinal = 0;
};

// Applies `conf`; a bad item is warned about, once, and leaves the policy as it was.
void apply_alloc_conf(std::string_view conf, alloc::Policy& policy, Bytes capacity, OptionWarnings& warnings) noexcept;

// `8GiB` (every device), `cuda:0=8GiB,mtia=80%`: the limit for this device; the last item that fits it counts.
[[nodiscard]] std::optional<Bytes> limit_for(std::string_view limits, DeviceName device, Bytes capacity,
                                             OptionWarnings& warnings) noexcept;

}  // namespace tidemark::runtime
