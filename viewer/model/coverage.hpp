// What a process's coverage says, beyond the single functions. Pure.
#pragma once

#include "shared/segment/coverage.hpp"

#include <cstdint>
#include <string>

namespace tidemark::viewer {

// Functions that allocated what nothing accounts for.
[[nodiscard]] segment::CoverageList unaccounted(const segment::CoverageList& coverage);

// How often the driver's tables of private functions were asked for: whatever allocates through one is not seen. Every
// genuine CUDA runtime asks for some.
[[nodiscard]] std::uint64_t tables_asked_for(const segment::CoverageList& coverage);

// "cuGraphAddMemAllocNode 3, cuMemAllocAsync 1 (in captures)"; "nothing".
[[nodiscard]] std::string unaccounted_text(const segment::CoverageList& coverage);

}  // namespace tidemark::viewer
