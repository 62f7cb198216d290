#include "simulator/mtia/driver.hpp"

#include <cstdlib>

#include "simulator/core/per_process.hpp"

namespace sim::mtia {
namespace {

constinit PerProcess<Driver> g_driver;

// A forked child's driver is another one, so its threads start at device 0 again.
struct Current {
  const Driver* of = nullptr;
  int device = 0;
};
thread_local Current t_current;

MachineOptions options_from(const Knobs& knobs) {
  return {.devices = knobs.devices,
          .memory_bytes = knobs.memory_bytes,
          .clock = knobs.manual_clock ? ClockMode::Manual : ClockMode::Auto,
          .shared_file = knobs.shared.empty() ? std::string{} : "mtia_sim." + knobs.shared,
          .product = "MTIA v2"};
}

// The library's own last act, after the program's destructors: calls made even later still work, on this process's own
// capacity.
[[gnu::destructor]] void leave_at_exit() {
  if (Driver* driver = g_driver.find()) driver->machine().leave_shared_capacity();
}

}  // namespace

Driver& Driver::get() {
  return g_driver.find_or_make([] { return new Driver{read_knobs("MTIA", "DRAM")}; });
}

Driver* Driver::find() { return g_driver.find(); }

Driver::Driver(const Knobs& knobs) : machine_(options_from(knobs)), gate_(knobs, &machine_.scheduler()) {
  for (int device = 0; device < machine_.device_count(); ++device) {
    contexts_[static_cast<std::size_t>(device)] = machine_.create_context(device);
  }
}

Status Driver::reset(int device) {
  // The new context first: a call of another thread meets one or the other.
  const ContextId fresh = machine_.create_context(device);
  return machine_.destroy_context(contexts_[static_cast<std::size_t>(device)].exchange(fresh));
}

int Driver::current_device() const { return t_current.of == this ? t_current.device : 0; }

void Driver::set_current_device(int device) const { t_current = {.of = this, .device = device}; }

StreamId Driver::stream(mtiaStream_t handle) const {
  return handle != nullptr ? StreamId{to_address(handle)} : default_stream(current_device());
}

mtiaResult_t to_result(Status status) {
  switch (status) {
    case Status::Ok:
      return MTIA_SUCCESS;
    case Status::InvalidValue:
      return MTIA_ERROR_INVALID_VALUE;
    case Status::OutOfMemory:
      return MTIA_ERROR_OUT_OF_MEMORY;
    case Status::InvalidHandle:
      return MTIA_ERROR_INVALID_HANDLE;
    case Status::NotReady:
      return MTIA_ERROR_NOT_READY;
    case Status::IllegalAddress:
      break;  // the interface has no code of its own for it
  }
  return MTIA_ERROR_UNKNOWN;
}

}  // namespace sim::mtia
