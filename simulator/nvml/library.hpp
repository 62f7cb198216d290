// What the simulated NVML knows: the devices of the simulated CUDA driver, by the same settings. Made by nvmlInit, gone
// with the last nvmlShutdown. Any thread may call.
//
//   CUDA_SIM_NVML_FAIL  calls that are to fail: nvmlInit_v2, nvmlDeviceGetName:3 the third, =15 with that code
//   CUDA_SIM_SHARED     what the processes of that name use is what is in use. Without it each process has devices of
//                       its own, and there is no answer for the machine: kNotSupported
#pragma once

#include <memory>
#include <vector>

#include "simulator/core/call_gate.hpp"
#include "simulator/core/knobs.hpp"
#include "simulator/core/machine.hpp"
#include "simulator/nvml/nvml_abi.hpp"

// What the API calls nvmlDevice_t points to one.
struct nvmlDevice_st {
  int index = 0;
  sim::DeviceIdentity identity{};
};

namespace nvml_sim {

using Device = nvmlDevice_st*;

class Library {
 public:
  // nullptr before the first initialise() and after the last shut_down().
  static std::shared_ptr<Library> find();
  static void initialise();
  static bool shut_down();  // false: it was not initialised

  Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] sim::CallGate& gate() { return gate_; }
  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(devices_.size()); }
  [[nodiscard]] Device device(unsigned index) { return &devices_[index]; }
  [[nodiscard]] bool has(Device device) const;
  [[nodiscard]] Return memory_of(Device device, MemoryV2& memory) const;

 private:
  sim::Knobs knobs_;
  sim::CallGate gate_;
  std::vector<nvmlDevice_st> devices_;
};

}  // namespace nvml_sim
