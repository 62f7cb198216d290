#include "simulator/cuda/driver/resolver.hpp"

#include <algorithm>
#include <array>

// The addresses of all exported symbols, under names that the renaming macros of cuda.h don't know.
#define X(symbol) extern "C" __attribute__((visibility("default"))) int cuda_sim_entry_##symbol() __asm__(#symbol);
#include <driver_stubs.inc>
#undef X

namespace cuda_sim {
namespace {

struct Entry {
  std::string_view base;
  int version;
  bool per_thread;
  std::string_view symbol;
  int (*function)();
};

// Sorted by base, then version.
constexpr Entry kEntries[] = {
#define X(base, version, per_thread, symbol) {#base, version, per_thread, #symbol, &cuda_sim_entry_##symbol},
#include <driver_table.inc>
#undef X
};

struct ByBase {
  bool operator()(const Entry& entry, std::string_view base) const { return entry.base < base; }
  bool operator()(std::string_view base, const Entry& entry) const { return base < entry.base; }
};

auto entries_of(std::string_view base) {
  return std::equal_range(std::begin(kEntries), std::end(kEntries), base, ByBase{});
}

}  // namespace

Resolved resolve(std::string_view base, int version, bool prefer_per_thread) {
  const auto [first, last] = entries_of(base);
  if (first == last) {
    return {};
  }
  const Entry* plain = nullptr;
  const Entry* per_thread = nullptr;
  for (auto entry = first; entry != last && entry->version <= version; ++entry) {
    (entry->per_thread ? per_thread : plain) = entry;
  }
  const Entry* chosen = prefer_per_thread && per_thread ? per_thread : plain;
  if (!chosen) {
    return {nullptr, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT};
  }
  return {reinterpret_cast<void*>(chosen->function), CU_GET_PROC_ADDRESS_SUCCESS};
}

std::string newest_symbol(const std::string& base) {
  const auto [first, last] = entries_of(base);
  std::string newest = base;
  for (auto entry = first; entry != last; ++entry) {
    if (!entry->per_thread) {
      newest = entry->symbol;
    }
  }
  return newest;
}

}  // namespace cuda_sim
