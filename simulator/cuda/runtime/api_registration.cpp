// What code compiled by nvcc calls before main and around a launch. Fat binaries are taken note of and nothing more: a
// launch takes its time on the stream, as nothing here could compute what the kernel would have.
#include "simulator/cuda/runtime/call.hpp"

using namespace cuda_sim;

// The toolkit declares these only to code compiled by nvcc.
CUDA_SIM_EXPORT void** __cudaRegisterFatBinary(void* image) {
  // The program hands it back on exit; it only has to be its own.
  return static_cast<void**>(image);
}
CUDA_SIM_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}
CUDA_SIM_EXPORT void __cudaUnregisterFatBinary(void**) {}
CUDA_SIM_EXPORT char __cudaInitModule(void**) { return 1; }
CUDA_SIM_EXPORT void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*,
                                            int*) {}
CUDA_SIM_EXPORT void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
CUDA_SIM_EXPORT void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int) {}
CUDA_SIM_EXPORT void __cudaRegisterHostVar(void**, const char*, char*, size_t) {}
CUDA_SIM_EXPORT void __cudaRegisterUnifiedTable(void**, void*) {}

namespace {

struct Launch {
  dim3 grid{};
  dim3 block{};
  size_t shared_bytes = 0;
  void* stream = nullptr;
};

// `f<<<...>>>(arguments)` pushes, and the stub of f pops: one is enough unless an argument launches, too.
constexpr int kDeepestLaunch = 8;
thread_local Launch launches[kDeepestLaunch];
thread_local int launch_depth = 0;

}  // namespace

// Not 0: the program skips the launch.
CUDA_SIM_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void* stream) {
  if (launch_depth == kDeepestLaunch) {
    return 1;
  }
  launches[launch_depth++] = Launch{grid, block, shared_bytes, stream};
  return 0;
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                                                 void* stream) {
  if (launch_depth == 0) {
    return record(cudaErrorMissingConfiguration);
  }
  const Launch& launch = launches[--launch_depth];
  *grid = launch.grid;
  *block = launch.block;
  *shared_bytes = launch.shared_bytes;
  *static_cast<void**>(stream) = launch.stream;
  return cudaSuccess;
}

CUDA_SIM_EXPORT struct cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                             enum cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaProfilerStart(void) { return cudaSuccess; }
CUDA_SIM_EXPORT cudaError_t CUDARTAPI cudaProfilerStop(void) { return cudaSuccess; }
