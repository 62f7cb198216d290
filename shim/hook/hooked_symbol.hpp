// One function that we stand in front of. Which ones these are is said by shim/entry; this room only answers look-ups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shim/hook/symbol_uses.hpp"

namespace tidemark::hook {

// Told a look-up of `symbol.name` that the library itself answered with `real`; returns what the program gets: `real`
// untouched, or an address of ours. Must not allocate, lock or log: it runs inside dlsym.
using AnswerFunction = void* (*)(std::size_t index, void* real) noexcept;

struct HookedSymbol {
  const char* name;  // exact: "cuMemAlloc_v2", never a prefix ("cu" also starts cudnnCreate)
  AnswerFunction answer;
  std::size_t index;  // for `answer`: which of its functions
  SymbolUses* uses;
};

// Sorted by name (strcmp order); defined by shim/entry, constant-initialised.
extern const std::span<const HookedSymbol> hooked_symbols;

// How often dlsym was called through the library so far.
[[nodiscard]] std::uint64_t dlsym_calls() noexcept;

// Null where the name is none of ours.
[[nodiscard]] const HookedSymbol* find_hooked_symbol(const char* name) noexcept;

}  // namespace tidemark::hook
