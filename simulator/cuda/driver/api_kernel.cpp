// Kernels and libraries as things that are asked about. A library is a module that needs no context, and any kernel of
// either looks like a small one.
#include "simulator/cuda/driver/internal_api.hpp"

#include <algorithm>

using namespace cuda_sim;

namespace {

constexpr int kMostThreads = 1024;
constexpr int kThreadsOfAMultiprocessor = 2048;
constexpr int kMostBlocks = 16;
constexpr int kMultiprocessors = 16;  // as the attributes have it
constexpr int kBinaryVersion = 80;
constexpr int kRegisters = 32;
constexpr int kMostDynamicBytes = 48 << 10;

template <class Body>
CUresult with_kernel(const char* name, CUfunction kernel, Body&& body) {
  return with_driver(
      name, [&](Call& call) { return call.driver.modules.has(kernel) ? body(call) : CUDA_ERROR_INVALID_HANDLE; });
}

CUresult read(int* value, CUfunction_attribute attribute) {
  if (!value || attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = kMostThreads;
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = kRegisters;
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = kBinaryVersion;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = kMostDynamicBytes;
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}

CUresult occupy(int* blocks, int threads) {
  if (!blocks || threads <= 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *blocks = threads > kMostThreads ? 0 : std::min(kMostBlocks, kThreadsOfAMultiprocessor / threads);
  return CUDA_SUCCESS;
}

CUresult propose(int* grid, int* block, int most) {
  if (!grid || !block || most < 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *block = most == 0 ? kMostThreads : std::min(most, kMostThreads);
  *grid = kMultiprocessors * std::min(kMostBlocks, kThreadsOfAMultiprocessor / *block);
  return CUDA_SUCCESS;
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction kernel) {
  return with_kernel(__func__, kernel, [&](Call&) { return read(value, attribute); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuFuncSetAttribute(CUfunction kernel, CUfunction_attribute attribute, int) {
  return with_kernel(__func__, kernel, [&](Call&) {
    return attribute >= 0 && attribute < CU_FUNC_ATTRIBUTE_MAX ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction kernel, CUfunc_cache) {
  return with_kernel(__func__, kernel, [](Call&) { return CUDA_SUCCESS; });
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction kernel,
                                                                             int threads, size_t) {
  return with_kernel(__func__, kernel, [&](Call&) { return occupy(blocks, threads); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction kernel,
                                                                                      int threads, size_t,
                                                                                      unsigned int) {
  return with_kernel(__func__, kernel, [&](Call&) { return occupy(blocks, threads); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction kernel,
                                                                  CUoccupancyB2DSize, size_t, int most) {
  return with_kernel(__func__, kernel, [&](Call&) { return propose(grid, block, most); });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction kernel,
                                                                           CUoccupancyB2DSize, size_t, int most,
                                                                           unsigned int) {
  return with_kernel(__func__, kernel, [&](Call&) { return propose(grid, block, most); });
}

#if CUDA_VERSION >= 12000
namespace {

// Handles of both kinds are one thing here.
CUmodule to_module(CUlibrary library) { return reinterpret_cast<CUmodule>(library); }
CUfunction to_function(CUkernel kernel) { return reinterpret_cast<CUfunction>(kernel); }

CUresult load(const char* name, CUlibrary* library, const void* source) {
  return with_driver(name, [&](Call& call) {
    if (!library || !source) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *library = reinterpret_cast<CUlibrary>(call.driver.modules.load());
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**,
                                                   unsigned int, CUlibraryOption*, void**, unsigned int) {
  return load(__func__, library, code);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary* library, const char* file, CUjit_option*, void**,
                                                       unsigned int, CUlibraryOption*, void**, unsigned int) {
  return load(__func__, library, file);
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuLibraryUnload(CUlibrary library) {
  return with_driver(__func__, [&](Call& call) {
    return call.driver.modules.unload(to_module(library)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return with_driver(__func__, [&](Call& call) {
    if (!kernel || !name) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *kernel = reinterpret_cast<CUkernel>(call.driver.modules.kernel(to_module(library), name));
    return *kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return with_context(__func__, [&](Call& call) {
    if (!module || !call.driver.modules.has(to_module(library))) {
      return module ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    }
    *module = to_module(library);
    return CUDA_SUCCESS;
  });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return with_kernel(__func__, to_function(kernel), [&](Call&) {
    if (!function) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *function = to_function(kernel);
    return CUDA_SUCCESS;
  });
}
CUDA_SIM_EXPORT CUresult CUDAAPI cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                                                      CUdevice) {
  return with_kernel(__func__, to_function(kernel), [&](Call&) { return read(value, attribute); });
}
#endif
