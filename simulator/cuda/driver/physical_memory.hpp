// Physical memory by handles (cuMemCreate): what each stands for, how many hold it, and how often it is mapped. The
// memory and its part of the capacity go when the last handle and the last mapping have gone; a descriptor that was
// exported keeps the bytes, but no capacity. Belongs to no context. Any thread may call.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "simulator/core/machine.hpp"

namespace cuda_sim {

// What cuMemGetAllocationGranularity says, minimum and recommended.
inline constexpr std::size_t kGranularity = std::size_t{2} << 20;

struct Physical {
  CUmemAllocationProp properties{};
  std::uint64_t size = 0;
  int device = sim::kTheHost;  // the machine's index
  bool charged = false;        // not another process's
  unsigned references = 1;
  unsigned mappings = 0;
  std::shared_ptr<sim::SharedBytes> bytes{};
};

class PhysicalMemory {
 public:
  explicit PhysicalMemory(sim::Machine& machine) : machine_(machine) {}

  // Requires: checked properties; `device`: the machine's index or kTheHost.
  CUresult create(const CUmemAllocationProp& properties, int device, std::uint64_t size,
                  CUmemGenericAllocationHandle& out);
  CUresult release(CUmemGenericAllocationHandle handle);
  // INVALID_VALUE for what nobody holds, also while it is mapped.
  [[nodiscard]] std::optional<Physical> find(CUmemGenericAllocationHandle handle) const;

  CUresult map(CUdeviceptr at, std::uint64_t size, CUmemGenericAllocationHandle handle);
  CUresult unmap(CUdeviceptr at, std::uint64_t size);
  // The handle of what is mapped around `address`, and one more reference to it.
  CUresult retain(CUdeviceptr address, CUmemGenericAllocationHandle& out);

  CUresult export_descriptor(CUmemGenericAllocationHandle handle, int& fd) const;
  // NOT_SUPPORTED for memory of a device that the program doesn't see. `ordinals`: the machine's index of each that it
  // does. This process's own memory keeps its handle.
  CUresult import_descriptor(int fd, const std::vector<int>& ordinals, CUmemGenericAllocationHandle& out);

 private:
  using All = std::map<CUmemGenericAllocationHandle, Physical>;
  void drop_if_unused(All::iterator found);

  sim::Machine& machine_;
  mutable std::mutex mutex_;  // taken before the virtual memory's
  All all_;
  CUmemGenericAllocationHandle last_ = 0x5D80'0000'0000'0000;  // no address
};

}  // namespace cuda_sim
