// Rows that were worked out before, by address: for stacks that come again and again, which is nearly all.
//
// A row holds for one load of one object. Its identity stands beside the row, and is made from where the loader put the
// object, from its tables and from a count that forget_rows() raises, since an address can be another object's later.
// Threads: any, without a lock; two that meet in a place cost one of them its row.
#pragma once

#include <cstdint>

#include "shim/stacks/row.hpp"

namespace tidemark::stacks {

[[nodiscard]] bool find_row(std::uintptr_t address, std::uint64_t identity, Row& row) noexcept;
void keep_row(std::uintptr_t address, std::uint64_t identity, const Row& row) noexcept;

void forget_rows() noexcept;
[[nodiscard]] std::uint64_t rows_forgotten() noexcept;  // how often

}  // namespace tidemark::stacks
