// The program's NVTX ranges as phases: each that ends while a device is served leaves its peaks in the table beside the
// segment. Outside the Runtime: what is open and what it is called outlives it, in a forked child too.
#pragma once

#include "shim/nvtx/ranges.hpp"

namespace tidemark::runtime {

extern constinit nvtx::Ranges nvtx_ranges;

}  // namespace tidemark::runtime
