// Runs the instructions of a call frame table as far as one address, for the three registers that a walk needs.
#pragma once

#include <cstdint>

#include "shim/stacks/call_frame_table.hpp"
#include "shim/stacks/row.hpp"

namespace tidemark::stacks {

// RowKind::Lost for whatever isn't understood.
[[nodiscard]] Row find_row_by_table(const CallFrameEntry& entry, std::uintptr_t address) noexcept;

}  // namespace tidemark::stacks
