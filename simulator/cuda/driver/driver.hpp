// The state of the simulated CUDA driver in one process: made by cuInit, never destroyed, not inherited through fork (a
// child of an initialised process has none and may not make one, as with CUDA). Any thread may call.
#pragma once

#include <cuda.h>

#include <memory>
#include <vector>

#include "simulator/core/call_gate.hpp"
#include "simulator/core/machine.hpp"
#include "simulator/cuda/driver/arrays.hpp"
#include "simulator/cuda/driver/captures.hpp"
#include "simulator/cuda/driver/contexts.hpp"
#include "simulator/cuda/driver/external_memory.hpp"
#include "simulator/cuda/driver/graph_memory.hpp"
#include "simulator/cuda/driver/graphs.hpp"
#include "simulator/cuda/driver/host_memory.hpp"
#include "simulator/cuda/driver/imports.hpp"
#include "simulator/cuda/driver/managed_memory.hpp"
#include "simulator/cuda/driver/modules.hpp"
#include "simulator/cuda/driver/physical_memory.hpp"
#include "simulator/cuda/driver/pointer_flags.hpp"
#include "simulator/cuda/driver/pools.hpp"
#include "simulator/cuda/driver/settings.hpp"
#include "simulator/cuda/driver/streams.hpp"

namespace cuda_sim {

class Driver {
 public:
  // This process's driver after a successful cuInit, else NULL.
  static Driver* find();
  // cuInit. CUDA_ERROR_NO_DEVICE leaves the driver uninitialised.
  static CUresult initialise();

  explicit Driver(const Settings& settings);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  [[nodiscard]] int device_count() const { return static_cast<int>(devices.size()); }
  [[nodiscard]] bool has_device(CUdevice device) const { return device >= 0 && device < device_count(); }
  // The machine's index of a device, and back (-1: not visible to this program).
  [[nodiscard]] int machine_index(CUdevice device) const { return devices[static_cast<std::size_t>(device)]; }
  [[nodiscard]] CUdevice ordinal_of(int machine_index) const;

  // Ends the life of a context and of all that belongs to it. False: it had none.
  bool end_context(Context& context);
  // The last one ends it. False: nobody held it. Requires: a valid device.
  bool release_primary(CUdevice device);

  const sim::Ticks kernel_ticks;
  sim::Machine machine;
  const std::vector<int> devices;  // the machine's index of each that the program sees
  sim::CallGate gate;
  Contexts contexts;
  Streams streams;
  Graphs graphs;
  Captures captures;
  HostMemory host_memory;
  Arrays arrays;
  ManagedMemory managed;
  Imports imports;
  ExternalMemory external;
  PhysicalMemory physical;
  GraphMemory graph_memory;
  Pools pools;
  PointerFlags pointer_flags;
  Modules modules;
};

}  // namespace cuda_sim
