// The resolver's two ABIs, the driver's version, and the names of errors: all that works before cuInit.
#include <cstring>

#include "simulator/cuda/driver/internal_api.hpp"

#include "simulator/cuda/driver/resolver.hpp"

using namespace cuda_sim;

// Both work before cuInit and in a forked child.
CUDA_SIM_EXPORT CUresult CUDAAPI cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                                                     CUdriverProcAddressQueryResult* status) {
  constexpr cuuint64_t kKnownFlags = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  if (!symbol || !function || version > driver_version() || flags & ~kKnownFlags || flags == kKnownFlags) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Resolved found = resolve(symbol, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  *function = found.function;
  if (status) {
    *status = found.status;
  }
  return CUDA_SUCCESS;
}

// The first ABI has no status to say it with.
CUDA_SIM_EXPORT CUresult CUDAAPI cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  const CUresult code = cuGetProcAddress_v2(symbol, function, version, flags, nullptr);
  return code == CUDA_SUCCESS && !*function ? CUDA_ERROR_NOT_FOUND : code;
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuDriverGetVersion(int* version) {
  if (!version) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *version = driver_version();
  return CUDA_SUCCESS;
}

namespace {

struct ErrorEntry {
  int value;
  const char* name;
  const char* text;
};

constexpr ErrorEntry kErrors[] = {
#define X(value, name, text) {value, name, text},
#include <driver_errors.inc>
#undef X
};

CUresult describe(CUresult error, const char** out, const char* ErrorEntry::*member) {
  if (!out) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (const ErrorEntry& entry : kErrors) {
    if (entry.value == static_cast<int>(error)) {
      *out = entry.*member;
      return CUDA_SUCCESS;
    }
  }
  *out = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUDA_SIM_EXPORT CUresult CUDAAPI cuGetErrorName(CUresult error, const char** name) {
  return describe(error, name, &ErrorEntry::name);
}

CUDA_SIM_EXPORT CUresult CUDAAPI cuGetErrorString(CUresult error, const char** text) {
  return describe(error, text, &ErrorEntry::text);
}
