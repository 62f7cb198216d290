// How every runtime function begins and ends: the driver is found and initialised, the calling thread has a context
// where one is needed, the result becomes a runtime error code, and a failure becomes the thread's last error.
//
//   CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaFree(void* pointer) {
//     return with_context([&](const DriverApi& driver) { return call(driver.mem_free, to_device(pointer)); });
//   }
#pragma once

#include <cuda_runtime_api.h>

#include "simulator/cuda/export.hpp"
#include "simulator/cuda/runtime/driver_api.hpp"

namespace cuda_sim {

// Since CUDA 10.1 both enums number the same errors alike.
constexpr cudaError_t to_runtime(CUresult code) { return static_cast<cudaError_t>(code); }
constexpr cudaError_t to_runtime(cudaError_t code) { return code; }

// Keeps a failure as the calling thread's last error; hands `code` back.
cudaError_t record(cudaError_t code);

// The driver after cuInit; NULL with the reason in `why`.
const DriverApi* initialised_driver(cudaError_t& why);
// Gives the calling thread a context: the one it has, else the primary one of its device.
cudaError_t ensure_context(const DriverApi& driver);

template <class Body>
cudaError_t with_driver(Body&& body) {
  cudaError_t why = cudaSuccess;
  const DriverApi* driver = initialised_driver(why);
  return record(driver ? to_runtime(body(*driver)) : why);
}

template <class Body>
cudaError_t with_context(Body&& body) {
  return with_driver([&](const DriverApi& driver) {
    const cudaError_t no_context = ensure_context(driver);
    return no_context == cudaSuccess ? to_runtime(body(driver)) : no_context;
  });
}

inline CUdeviceptr to_device(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
inline void* to_pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

}  // namespace cuda_sim
