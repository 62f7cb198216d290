// What else is loaded into the process that changes what we should do, or what our numbers mean: tools that look at
// device memory, network cards that keep registrations of it, other libraries in front of the same functions; and
// programs that pool memory for themselves.
//
// Threads: any. Takes the loader's lock for the list of objects alone, which is never held while code of theirs runs.
#pragma once

#include <array>
#include <cstdint>

#include "shared/segment/process_words.hpp"
#include "shim/hook/object_list.hpp"

namespace tidemark::runtime {

struct Situation {
  // Why memory should only be counted; empty: nothing speaks against a cache.
  std::array<char, 128> count_only{};
  segment::InnerPool inner_pool = segment::InnerPool::None;

  [[nodiscard]] bool allows_cache() const noexcept { return count_only[0] == '\0'; }
};

// Pools that the environment turns off: `tidemark run --unpool`, or who wants each tensor's memory for itself.
struct PoolSwitches {
  bool has_torch = true;  // PYTORCH_NO_CUDA_MEMORY_CACHING
  bool has_xla = true;    // XLA_PYTHON_CLIENT_ALLOCATOR=platform
};
// `environment` as for read_options().
[[nodiscard]] PoolSwitches read_pool_switches(const char* const* environment) noexcept;

[[nodiscard]] Situation look_around(const hook::ObjectList& objects, const PoolSwitches& switches) noexcept;

// Another library of LD_PRELOAD in front of the same functions is a reason to count only. It is there from the start or
// never.
void look_for_interposer(const hook::ObjectList& objects, const char* const* environment, Situation& found) noexcept;

// How often something was loaded so far: a look around is worth it only when this has changed.
[[nodiscard]] std::uint64_t count_of_loads() noexcept;

}  // namespace tidemark::runtime
