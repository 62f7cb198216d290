// Finds what an object's .eh_frame says about the function around an address: through the sorted table that the linker
// made (.eh_frame_hdr), which the loader hands out without a lock. Objects without one are walked by frame pointer.
#pragma once

#include <cstdint>

#include "shim/stacks/byte_cursor.hpp"
#include "shim/stacks/known_object.hpp"

namespace tidemark::stacks {

// The object around `address`, or one that holds nothing.
[[nodiscard]] KnownObject find_object(std::uintptr_t address) noexcept;

struct CallFrameEntry {
  std::uintptr_t begin = 0;  // of the function
  std::uint64_t code_unit = 1;
  std::int64_t data_unit = 1;
  std::uint64_t return_register = 0;
  bool is_signal = false;
  ByteCursor start{0, 0};    // instructions of all functions like this one (CIE)
  ByteCursor program{0, 0};  // instructions of this function (FDE)
};

[[nodiscard]] bool find_call_frame_entry(const KnownObject& object, std::uintptr_t address,
                                         CallFrameEntry& entry) noexcept;

}  // namespace tidemark::stacks
