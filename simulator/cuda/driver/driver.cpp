#include "simulator/cuda/driver/driver.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "simulator/core/per_process.hpp"
#include "simulator/cuda/identity.hpp"

namespace cuda_sim {
namespace {

constinit sim::PerProcess<Driver> process_driver;

sim::MachineOptions machine_options(const sim::Knobs& knobs) {
  return {.devices = knobs.devices,
          .memory_bytes = knobs.memory_bytes,
          .clock = knobs.manual_clock ? sim::ClockMode::Manual : sim::ClockMode::Auto,
          .shared_file = shared_file(knobs),
          .product = kProduct,
          .exportable = true};
}

std::vector<int> visible_to_program(const sim::Machine& machine) {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible_devices(list ? std::optional<std::string_view>{list} : std::nullopt, machine);
}

// The library's last act, after the program's destructors: what is called even later still works, unshared.
[[gnu::destructor]] void leave_shared_capacity() {
  if (Driver* driver = process_driver.find()) {  // not in a forked child, whose share is not its own
    driver->machine.leave_shared_capacity();
  }
}

}  // namespace

Driver::Driver(const Settings& settings)
    : kernel_ticks(settings.kernel_ticks),
      machine(machine_options(settings.knobs)),
      devices(visible_to_program(machine)),
      gate(settings.knobs, &machine.scheduler()),
      contexts(machine, devices),
      streams(machine),
      captures(graphs),
      imports(machine),
      external(machine, devices),
      physical(machine),
      graph_memory(machine, devices),
      pools(machine, devices, graph_memory) {}

Driver* Driver::find() {
  Driver* driver = process_driver.find();
  return driver && driver->device_count() > 0 ? driver : nullptr;
}

CUresult Driver::initialise() {
  if (process_driver.is_forked_child()) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  try {
    const Driver& driver = process_driver.find_or_make([] { return new Driver{read_settings()}; });
    return driver.device_count() > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
}

CUdevice Driver::ordinal_of(int machine_index) const {
  const auto found = std::find(devices.begin(), devices.end(), machine_index);
  return found != devices.end() ? static_cast<CUdevice>(found - devices.begin()) : -1;
}

bool Driver::end_context(Context& context) {
  for (Context* part : contexts.parts_of(context)) {
    end_context(*part);
  }
  captures.forget(context);
  if (!contexts.end(context)) {
    return false;
  }
  if (!context.whole) {
    streams.forget(context);  // those of a green one are to be destroyed first, and else stay as what they are: dead
  }
  host_memory.forget(context);
  arrays.forget(context);
  if (!managed.is_empty()) {
    machine.scheduler().synchronize_everything();  // other contexts' work may use it, too
    managed.forget(context);
  }
  imports.forget(context);
  external.forget(context);
  pools.collect();
  return true;
}

bool Driver::release_primary(CUdevice device) {
  const Contexts::Released released = contexts.release(device);
  if (released == Contexts::Released::Last) {
    end_context(contexts.primary(device));
  }
  return released != Contexts::Released::NotHeld;
}

}  // namespace cuda_sim
