// A function of a driver as the program would have reached it, found when first called and remembered.
#pragma once

#include <atomic>

#include "shim/hook/driver_anchor.hpp"
#include "shim/hook/symbol_lookup.hpp"

namespace tidemark::hook {

// What a driver's functions have in common: where they live, and what a call answers that has nowhere to go.
template <class Code>
struct DriverLibrary {
  const char* file_prefix;  // "libcuda.so"
  Code missing;             // the driver's own code for "no driver here"
  mutable DriverAnchor anchor{};
};

// Threads: any. Two threads that resolve at once store the same address.
template <class Code, class... Args>
class RealSymbol {
 public:
  using Function = Code (*)(Args...);

  constexpr RealSymbol(const char* name, const DriverLibrary<Code>& library) : name_(name), library_(library) {}

  // Not noexcept: a cancelled thread is unwound through the driver's function, and through whoever called it here.
  Code operator()(Args... args) const {
    if (const auto function = reinterpret_cast<Function>(address_.load(std::memory_order_acquire))) [[likely]] {
      return function(args...);
    }
    return call_unmet(args...);
  }

  // Null where no loaded driver has it.
  [[nodiscard]] Function find() const noexcept {
    void* known = address_.load(std::memory_order_acquire);
    return reinterpret_cast<Function>(known != nullptr ? known : find_anew());
  }

  [[nodiscard]] bool exists() const noexcept { return find() != nullptr; }

  // The driver said itself where its function is (dlsym, cuGetProcAddress). The first word stands for as long as the
  // driver is loaded.
  void learn(void* address) const noexcept {
    library_.anchor.learn(address);
    if (!library_.anchor.holds(learned_.load(std::memory_order_acquire))) {
      learned_.store(address, std::memory_order_release);
    }
  }

  [[nodiscard]] const char* name() const noexcept { return name_; }

 private:
  [[gnu::noinline, gnu::cold]] Code call_unmet(Args... args) const {
    const Function function = find();
    return function == nullptr ? library_.missing : function(args...);
  }

  void* find_anew() const noexcept {
    if (is_absent_.load(std::memory_order_relaxed)) {
      return nullptr;
    }
    void* found = learned_.load(std::memory_order_acquire);
    if (!library_.anchor.holds(found)) {
      found = look_up();
    }
    // Of a library that can still go, not even absence is remembered.
    if (library_.anchor.stays()) {
      address_.store(found, std::memory_order_release);
      is_absent_.store(found == nullptr, std::memory_order_relaxed);
    }
    return found;
  }

  void* look_up() const noexcept {
    void* const anchor = library_.anchor.function();
    void* const found = anchor != nullptr ? find_beside(anchor, name_)
                                          : find_real_function({.name = name_, .library_prefix = library_.file_prefix});
    if (found != nullptr) {
      learn(found);
    }
    return found;
  }

  const char* name_;
  const DriverLibrary<Code>& library_;
  mutable std::atomic<void*> learned_{nullptr};  // while its library is loaded
  mutable std::atomic<void*> address_{nullptr};  // for good
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
