// One line on stderr when an allocation fails for want of memory: what was asked, what is held, what stood in the way.
#pragma once

#include "shim/runtime/served_device.hpp"

namespace tidemark::runtime {

// After the device's counters know of it. Says so at the 1st, 2nd, 4th, 8th ... time, so that a program that asks until
// it is refused isn't drowned; before the program's first success only where it was a limit of ours that refused.
void say_out_of_memory(ServedDevice& device) noexcept;

}  // namespace tidemark::runtime
