// The state of the simulated MTIA driver in one process, and the frame around each of its functions.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <new>

#include "mtia.h"
#include "simulator/core/call_gate.hpp"
#include "simulator/core/knobs.hpp"
#include "simulator/core/machine.hpp"

// Every exported function's definition stands between these two.
#define MTIA_EXPORTS_BEGIN _Pragma("GCC visibility push(default)") extern "C" {
#define MTIA_EXPORTS_END \
  }                      \
  _Pragma("GCC visibility pop")

namespace sim::mtia {

inline constexpr int kMostDevices = 64;

class Driver {
 public:
  // This process's driver, made by the first call. A forked child makes its own. Throws std::bad_alloc.
  static Driver& get();
  // The same, or nullptr before that.
  static Driver* find();

  explicit Driver(const Knobs& knobs);

  [[nodiscard]] Machine& machine() { return machine_; }
  [[nodiscard]] CallGate& gate() { return gate_; }
  [[nodiscard]] Scheduler& scheduler() { return machine_.scheduler(); }

  // All memory, streams and events of a device belong to its context, which a reset replaces.
  // Requires: 0 <= device < device_count().
  [[nodiscard]] ContextId context(int device) const { return contexts_[static_cast<std::size_t>(device)].load(); }
  Status reset(int device);

  // The calling thread's, 0 at first.
  [[nodiscard]] int current_device() const;
  void set_current_device(int device) const;

  // NULL means the default stream of the current device. 0 if there is no device.
  [[nodiscard]] StreamId stream(mtiaStream_t handle) const;
  [[nodiscard]] StreamId default_stream(int device) const {
    return machine_.scheduler().default_stream(context(device));
  }

 private:
  Machine machine_;
  CallGate gate_;
  std::array<std::atomic<ContextId>, kMostDevices> contexts_{};
};

[[nodiscard]] mtiaResult_t to_result(Status status);

// What an injected fault looks like where the rule gives no code of its own.
inline constexpr mtiaResult_t kInjected = MTIA_ERROR_UNKNOWN;

// The frame of a function that needs the driver: initialises, counts and traces the call, injects faults, lets no
// exception out. `body(driver, call)` returns the result.
template <class Body>
mtiaResult_t with_driver(const char* name, mtiaResult_t injected, Body&& body) noexcept {
  if (Scheduler::in_host_function()) return MTIA_ERROR_NOT_SUPPORTED;
  try {
    Driver& driver = Driver::get();
    CallScope call{driver.gate(), name};
    if (const auto& fault = call.injected()) return call.done(static_cast<mtiaResult_t>(fault->value_or(injected)));
    return call.done(body(driver, call));
  } catch (const std::bad_alloc&) {
    return MTIA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return MTIA_ERROR_UNKNOWN;
  }
}

template <class Body>
mtiaResult_t with_driver(const char* name, Body&& body) noexcept {
  return with_driver(name, kInjected, body);
}

// The same for functions that also need a device to be there.
template <class Body>
mtiaResult_t with_device(const char* name, mtiaResult_t injected, Body&& body) noexcept {
  return with_driver(name, injected, [&](Driver& driver, CallScope& call) {
    return driver.machine().device_count() > 0 ? body(driver, call) : MTIA_ERROR_NO_DEVICE;
  });
}

template <class Body>
mtiaResult_t with_device(const char* name, Body&& body) noexcept {
  return with_device(name, kInjected, body);
}

// Pointers and handles of the interface are the core's numbers.
inline Address to_address(const void* pointer) { return reinterpret_cast<Address>(pointer); }
inline void* to_pointer(Address address) { return reinterpret_cast<void*>(address); }

}  // namespace sim::mtia
