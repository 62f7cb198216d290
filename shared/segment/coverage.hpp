// What of the programs' ways to memory was met: for each function that the library stands in front of, how the program
// got it and whether it ever came through us; and what was allocated without being accounted for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::segment {

// Bits of CoverageEntry::uses. Numbers are part of the layout.
enum class SymbolUse : std::uint64_t {
  Missed = 1u << 0,    // dlsym, given a library's handle, answered with that library's own
  Swapped = 1u << 1,   // dlsym answered with ours
  Resolved = 1u << 2,  // the driver's own resolver (cuGetProcAddress, mtiaGetProcAddress) was answered with ours
  Entered = 1u << 3,   // the program called ours
};

inline constexpr std::size_t kMostCoverageEntries = 128;
inline constexpr std::size_t kCoverageNameBytes = 40;

// A writer's. Requires: `name` outlives the call.
struct CoverageEntry {
  std::string_view name;
  std::uint64_t uses = 0;
  std::uint64_t unaccounted_calls = 0;  // that succeeded and that nothing accounts for
};

// A reader's.
struct SymbolCoverage {
  std::string name;
  std::uint64_t uses = 0;
  std::uint64_t unaccounted_calls = 0;

  [[nodiscard]] bool has(SymbolUse use) const noexcept { return (uses & static_cast<std::uint64_t>(use)) != 0; }
  bool operator==(const SymbolCoverage&) const = default;
};
using CoverageList = std::vector<SymbolCoverage>;

// The settings in effect: name and value, in the writer's order; an empty value: none.
struct Setting {
  std::string name;  // "free", as in TIDEMARK_FREE
  std::string value;

  bool operator==(const Setting&) const = default;
};

}  // namespace tidemark::segment
