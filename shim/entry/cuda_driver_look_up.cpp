// Which of our functions stands for which of the driver's.
#include <array>
#include <atomic>
#include <iterator>

#include "shim/backend/cuda_symbols.hpp"
#include "shim/entry/cuda_driver_entry.hpp"
#include "shim/entry/cuda_uses.hpp"
#include "shim/hook/own_object.hpp"
#include "shim/runtime/call_counts.hpp"

namespace tidemark::entry {
namespace {

using backend::real_cuda;

enum class Hook : std::size_t {
#define X(symbol, base, version, flags) symbol,
  TIDEMARK_CUDA_DRIVER_HOOKS(X)
#undef X
      count_
};

struct ResolverName {
  const char* base;
  int version;
  cuuint64_t flags;
};

constexpr ResolverName kResolverNames[] = {
#define X(symbol, base, version, flags) {base, version, flags},
    TIDEMARK_CUDA_DRIVER_HOOKS(X)
#undef X
};
constexpr std::size_t kHooks = std::size(kResolverNames);

// What the driver's resolver gives for each of our symbols; null: not asked yet, or this driver has none.
constinit std::array<std::atomic<void*>, kHooks> resolver_addresses{};
constinit std::atomic<const void*> addresses_are_of{nullptr};  // DriverAnchor::identity

// Code instead of a table: a table of converted addresses could need a constructor, and look-ups come before any runs.
void* learn_and_answer(Hook which, void* real) noexcept {
  switch (which) {
#define X(symbol, base, version, flags) \
  case Hook::symbol:                    \
    real_cuda().symbol.learn(real);     \
    return reinterpret_cast<void*>(&::symbol);
    TIDEMARK_CUDA_DRIVER_HOOKS(X)
#undef X
    case Hook::count_:
      break;
  }
  return real;
}

constexpr hook::SymbolUses* kUses[] = {
#define X(symbol, base, version, flags) &uses::symbol,
    TIDEMARK_CUDA_DRIVER_HOOKS(X)
#undef X
};

void* ask_resolver(const ResolverName& name) noexcept {
  void* address = nullptr;
  const auto second = real_cuda().cuGetProcAddress_v2.find();
  const CUresult code = second != nullptr ? second(name.base, &address, name.version, name.flags, nullptr)
                                          : real_cuda().cuGetProcAddress(name.base, &address, name.version, name.flags);
  return code == CUDA_SUCCESS && !hook::is_inside_our_object(address) ? address : nullptr;
}

// Once, at the first look-up in a driver: several runtimes may come at the same time, and then each stores the same.
void learn_resolver_addresses() noexcept {
  const void* driver = backend::cuda_library.anchor.identity();
  if (driver != nullptr && addresses_are_of.load(std::memory_order_acquire) == driver) {
    return;
  }
  for (std::size_t i = 0; i < kHooks; ++i) {
    resolver_addresses[i].store(ask_resolver(kResolverNames[i]), std::memory_order_release);
  }
  addresses_are_of.store(backend::cuda_library.anchor.identity(), std::memory_order_release);
}

}  // namespace

void* answer_cuda_driver(std::size_t index, void* real) noexcept {
  // A second copy of the driver (dlmopen, another file) is not the one whose memory we have: left alone.
  if (!hook::is_in_library(real, backend::cuda_library.file_prefix) ||
      !hook::are_in_one_object(real, backend::cuda_library.anchor.function())) {
    return real;
  }
  runtime::call_counts.swapped.fetch_add(1, std::memory_order_relaxed);
  return learn_and_answer(static_cast<Hook>(index), real);
}

void* answer_cuda_resolver(void* real) noexcept {
  learn_resolver_addresses();
  runtime::call_counts.resolver.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t i = 0; i < kHooks; ++i) {
    if (resolver_addresses[i].load(std::memory_order_acquire) == real) {
      runtime::call_counts.swapped.fetch_add(1, std::memory_order_relaxed);
      kUses[i]->note(hook::SymbolUses::kResolved);
      return learn_and_answer(static_cast<Hook>(i), real);
    }
  }
  return real;
}

}  // namespace tidemark::entry
