// Builds the table of hooked names at compile time, so that it is there before anything runs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "shim/hook/hooked_symbol.hpp"

namespace tidemark::entry {

struct NamedUses {
  const char* name;
  hook::SymbolUses* uses;
};

// The names of one list with the function that answers for them.
template <std::size_t Count>
constexpr auto named(const std::array<NamedUses, Count>& names, hook::AnswerFunction answer) {
  std::array<hook::HookedSymbol, Count> symbols{};
  for (std::size_t i = 0; i < Count; ++i) {
    symbols[i] = {.name = names[i].name, .answer = answer, .index = i, .uses = names[i].uses};
  }
  return symbols;
}

template <std::size_t... Counts>
constexpr auto sorted_symbols(const std::array<hook::HookedSymbol, Counts>&... lists) {
  std::array<hook::HookedSymbol, (Counts + ...)> all{};
  auto* end = all.data();
  ((end = std::copy(lists.begin(), lists.end(), end)), ...);
  std::sort(all.begin(), all.end(), [](const hook::HookedSymbol& a, const hook::HookedSymbol& b) {
    return std::string_view{a.name} < std::string_view{b.name};
  });
  return all;
}

}  // namespace tidemark::entry
