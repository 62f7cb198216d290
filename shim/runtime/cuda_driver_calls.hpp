// What the CUDA driver's calls become. Each answers the code that the program gets, or nothing: then the call is the
// driver's, untouched. Threads: any; only inside intercept().
#pragma once

#include <cstddef>

#include "shim/backend/cuda_symbols.hpp"
#include "shim/runtime/answer.hpp"
#include "shim/runtime/runtime.hpp"

namespace tidemark::runtime {

// The device with the driver's ordinal, met now if it is new; null: more devices than we can show.
[[nodiscard]] ServedDevice* served_cuda_device(Runtime& runtime, int device) noexcept;

class CudaDriverCalls {
 public:
  explicit CudaDriverCalls(Runtime& runtime) noexcept : runtime_(runtime) {}

  Answer<CUresult> allocate(CUdeviceptr* ptr, std::size_t size) noexcept;

  Answer<CUresult> release(CUdeviceptr ptr) noexcept;
  // cuMemFreeAsync of a block of ours: forwarded, that would free the whole segment under its neighbours. Never waits.
  Answer<CUresult> release_later(CUdeviceptr ptr, CUstream stream) noexcept;

  Answer<CUresult> memory_info(std::size_t* free, std::size_t* total) noexcept;

  // The driver's handle covers a whole segment. A block that is its segment's only one is exported, and the segment
  // never handed out again; a block that shares its segment is refused, since the importer would get the segment's
  // first bytes.
  Answer<CUresult> export_memory(CUipcMemHandle* handle, CUdeviceptr ptr) noexcept;

  // Somebody beside this process's streams may use the memory from now on, and may go on after its free: another
  // process (dma-buf) or a network card. Memory of nobody's: nothing to do.
  void share(CUdeviceptr ptr) noexcept;

  // After an out-of-memory of another allocation family: gives all idle memory back. False: there was none, don't try
  // again.
  bool make_room() noexcept;

 private:
  Answer<CUresult> answer_release(Status released) noexcept;
  void stop_sub_allocating() noexcept;

  Runtime& runtime_;
};

}  // namespace tidemark::runtime
