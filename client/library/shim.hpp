// The preload library in this process, if it is there.
#pragma once

#include <cstdint>
#include <string>

#include "shared/base/shim_table.hpp"

namespace tidemark::client {

// Null: not preloaded, of another ABI, or off in this process (TIDEMARK_MODE=off). Costs a few loads.
[[nodiscard]] const ShimTable* serving_shim();

// Throws the Failure for a code of the table; kShimNoDevice and kShimNotServed among them.
void check_shim(const std::string& task, std::int64_t code);

}  // namespace tidemark::client
