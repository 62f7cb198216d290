// What the process itself asks of the library, through the client library: the table of shared/base/shim_table.hpp over
// the runtime.
#pragma once

#include "shared/base/shim_table.hpp"

namespace tidemark::runtime {

// Null: no table of this ABI.
[[nodiscard]] const ShimTable* shim_table(std::uint32_t abi) noexcept;

}  // namespace tidemark::runtime
