// A recorded program: its allocations and frees, in their order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/workloads.hpp"

namespace tidemark::bench {

struct Trace {
  std::vector<Step> steps;
  std::uint32_t slots = 0;
  std::uint64_t allocations = 0;
  std::uint64_t live_peak_bytes = 0;  // of what was asked for
};

// From CSV lines `op,addr,size,stream`: `a` an allocation, `f` the free of one, `F` of a block older than the trace
// (left out). Nullopt: no such file, or something else in it.
std::optional<Trace> read_trace(const std::string& path);

}  // namespace tidemark::bench
