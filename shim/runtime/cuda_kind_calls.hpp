// What the CUDA driver's calls mean for the books of memory that is not cached. The calls themselves are the driver's;
// these come after an allocation that succeeded and before a free. Threads: any; only inside entry::beside().
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "shared/base/kind_counts.hpp"
#include "shim/alloc/kind_map.hpp"
#include "shim/backend/cuda_symbols.hpp"
#include "shim/runtime/runtime.hpp"

namespace tidemark::runtime {

using alloc::KindSpace;
using TakenKind = std::optional<alloc::KindRecord>;

class CudaKindCalls {
 public:
  explicit CudaKindCalls(Runtime& runtime) noexcept : runtime_(runtime), books_(runtime.kinds()) {}

  // Before a free, and by the driver's answer after it: what is not known answers nothing, and nothing is done for it.
  [[nodiscard]] TakenKind take(KindSpace space, std::uint64_t name) noexcept { return books_.take(space, name); }
  void settle(const alloc::KindRecord& taken) noexcept { books_.settle(taken); }
  void put_back(const alloc::KindRecord& taken) noexcept { books_.put_back(taken); }

  // Device memory

  void managed(CUdeviceptr ptr, std::size_t size) noexcept;
  // Linear memory in rows: like any other that is passed through, part of what is allocated. False: it would pass the
  // limit, and has to be freed.
  [[nodiscard]] bool pitched(CUdeviceptr ptr, std::size_t size) noexcept;
  // `kind` Async or Pool. Whose memory it is the pool decides, which may be another device's or the host's.
  // False: nothing accounts for it, since it is a graph's, or there is no place for its device.
  bool pooled(DeviceKind kind, CUdeviceptr ptr, std::size_t size, CUstream stream) noexcept;
  void array(CUarray array, const CUDA_ARRAY_DESCRIPTOR& shape) noexcept;
  void array(CUarray array, const CUDA_ARRAY3D_DESCRIPTOR& shape) noexcept;
  void mipmapped(CUmipmappedArray array, const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned levels) noexcept;

  // Host memory

  void host(HostKind kind, const void* ptr, std::size_t size) noexcept;

  // Another's memory

  // From an IPC handle, which may be open already, or out of another process's pool.
  void opened(CUdeviceptr ptr) noexcept;
  void external(CUexternalMemory memory, std::uint64_t size) noexcept;

  // Physical memory

  void created(CUmemGenericAllocationHandle handle, std::size_t size, const CUmemLocation& location) noexcept;
  void handle_imported(CUmemGenericAllocationHandle handle) noexcept;
  void retained(CUmemGenericAllocationHandle handle, const void* mapped) noexcept;
  void mapped(CUdeviceptr ptr, std::size_t size, std::size_t offset, CUmemGenericAllocationHandle handle) noexcept;
  void unmapped(CUdeviceptr ptr, std::size_t size) noexcept { books_.unmap(ptr, size); }

 private:
  // Null: more devices than we can show.
  [[nodiscard]] ServedDevice* current_device(alloc::ContextId* context) noexcept;
  void add(DeviceKind kind, alloc::KindSpace space, std::uint64_t name, std::uint64_t size) noexcept;
  void add_shaped(std::uint64_t handle, const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned levels) noexcept;

  Runtime& runtime_;
  alloc::KindBooks& books_;
};

}  // namespace tidemark::runtime
