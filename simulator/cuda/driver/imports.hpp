// Memory of other processes that cuIpcOpenMemHandle opened here. A handle names the exporting process, the file in
// which it keeps the device's bytes, and the place in it; opening maps that place. Any thread may call.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <mutex>
#include <vector>

#include "simulator/core/machine.hpp"
#include "simulator/cuda/driver/contexts.hpp"

namespace cuda_sim {

// The 64 bytes of a CUipcMemHandle.
struct ExportedMemory {
  std::uint64_t magic = 0;
  std::int32_t pid = 0;
  std::int32_t machine_index = 0;
  sim::FileRange file{};
  std::uint64_t size = 0;
  std::uint64_t serial = 0;  // a later allocation at the same address is another one

  bool operator==(const ExportedMemory& other) const {
    return pid == other.pid && file.inode == other.file.inode && file.offset == other.file.offset &&
           serial == other.serial;
  }
};
static_assert(sizeof(ExportedMemory) == sizeof(CUipcMemHandle));

class Imports {
 public:
  explicit Imports(sim::Machine& machine) : machine_(machine) {}

  // What a handle of the allocation around `pointer` says.
  CUresult describe(sim::Address pointer, CUipcMemHandle& out) const;
  // Opened again by the same context, it has the same address and one more to be closed.
  // `of_pool`: it is freed like other memory of pools, by cuMemFree.
  CUresult open(Context& context, const CUipcMemHandle& handle, CUdeviceptr& out, bool of_pool = false);
  [[nodiscard]] bool is_of_pool(sim::Address base) const;
  CUresult close(sim::Address base);
  // The context's life has ended, and its mappings with it.
  void forget(const Context& context);

 private:
  struct Import {
    ExportedMemory source;
    const Context* context = nullptr;
    sim::Address base = 0;
    unsigned times = 1;
    bool of_pool = false;
  };

  sim::Machine& machine_;
  mutable std::mutex mutex_;
  std::vector<Import> imports_;
};

}  // namespace cuda_sim
