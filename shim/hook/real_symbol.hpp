// A function of a driver as the program would have reached it, found when first called and remembered.
#pragma once

#include <atomic>

#include "shim/hook/symbol_lookup.hpp"

namespace tidemark::hook {

// What a driver's functions have in common: where they live, and what a call answers that has nowhere to go.
template <class Code>
struct DriverLibrary {
  const char* file_prefix;  // "libcuda.so"
  Code missing;             // the driver's own code for "no driver here"
  // Any function known to be the driver's: its neighbours are looked for beside it, in the library the program uses.
  mutable std::atomic<void*> anchor{nullptr};
};

// Threads: any. Two threads that resolve at once store the same address.
template <class Code, class... Args>
class RealSymbol {
 public:
  using Function = Code (*)(Args...);

  constexpr RealSymbol(const char* name, const DriverLibrary<Code>& library) : name_(name), library_(library) {}

  Code operator()(Args... args) const {
    const Function function = find();
    return function == nullptr ? library_.missing : function(args...);
  }

  // Null where no loaded driver has it.
  [[nodiscard]] Function find() const noexcept {
    void* known = address_.load(std::memory_order_acquire);
    return reinterpret_cast<Function>(known != nullptr ? known : look_up());
  }

  [[nodiscard]] bool exists() const noexcept { return find() != nullptr; }

  // The driver said itself where its function is (dlsym, cuGetProcAddress). The first word stands.
  void learn(void* address) const noexcept {
    void* none = nullptr;
    address_.compare_exchange_strong(none, address, std::memory_order_acq_rel);
    none = nullptr;
    library_.anchor.compare_exchange_strong(none, address, std::memory_order_acq_rel);
  }

  [[nodiscard]] const char* name() const noexcept { return name_; }

 private:
  // Absence is remembered only once a driver is known: before that, one may still be loaded.
  void* look_up() const noexcept {
    if (is_absent_.load(std::memory_order_relaxed)) {
      return nullptr;
    }
    void* const anchor = library_.anchor.load(std::memory_order_acquire);
    void* const found = anchor != nullptr ? find_beside(anchor, name_)
                                          : find_real_function({.name = name_, .library_prefix = library_.file_prefix});
    if (found != nullptr) {
      learn(found);
    } else if (anchor != nullptr) {
      is_absent_.store(true, std::memory_order_relaxed);
    }
    return found;
  }

  const char* name_;
  const DriverLibrary<Code>& library_;
  mutable std::atomic<void*> address_{nullptr};
  mutable std::atomic<bool> is_absent_{false};
};

// RealSymbolOf<decltype(&::cuMemAlloc_v2)>: the signature comes from the driver's header.
template <class Function>
struct RealSymbolFrom;
template <class Code, class... Args>
struct RealSymbolFrom<Code (*)(Args...)> {
  using Type = RealSymbol<Code, Args...>;
};
template <class Function>
using RealSymbolOf = typename RealSymbolFrom<Function>::Type;

}  // namespace tidemark::hook
