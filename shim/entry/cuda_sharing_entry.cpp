// Calls of the CUDA driver after which somebody beside this process's streams may use a block: it is then never handed
// out again. IPC handles are in cuda_driver_entry.cpp, since a part of a segment must not get one at all.
#include <algorithm>

#include "shim/backend/cuda_symbols.hpp"
#include "shim/entry/cuda_uses.hpp"
#include "shim/entry/export.hpp"
#include "shim/entry/intercept.hpp"
#include "shim/runtime/cuda_driver_calls.hpp"

using tidemark::backend::real_cuda;
using tidemark::entry::beside;
using tidemark::runtime::CudaDriverCalls;

namespace uses = tidemark::entry::uses;

namespace {

CUresult shared(CUresult code, CUdeviceptr ptr) noexcept {
  if (code == CUDA_SUCCESS && tidemark::runtime::runtime_if_built() != nullptr) {
    beside([&] { CudaDriverCalls{*tidemark::runtime::runtime_if_built()}.share(ptr); });
  }
  return code;
}

}  // namespace

extern "C" {

// A dma-buf of a range: another process, or a network card.
TIDEMARK_EXPORT CUresult cuMemGetHandleForAddressRange(void* handle, CUdeviceptr ptr, size_t size,
                                                       CUmemRangeHandleType type, unsigned long long flags) {
  uses::cuMemGetHandleForAddressRange.entered();
  return shared(real_cuda().cuMemGetHandleForAddressRange(handle, ptr, size, type, flags), ptr);
}

// The attribute sticks to the whole of the driver's allocation, and says that a network card will write to it.
TIDEMARK_EXPORT CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr ptr) {
  uses::cuPointerSetAttribute.entered();
  const CUresult code = real_cuda().cuPointerSetAttribute(value, attribute, ptr);
  return attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ? shared(code, ptr) : code;
}

// Tokens by which a network card's driver finds the memory.
TIDEMARK_EXPORT CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr ptr) {
  uses::cuPointerGetAttribute.entered();
  const CUresult code = real_cuda().cuPointerGetAttribute(value, attribute, ptr);
  return attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS ? shared(code, ptr) : code;
}

// Succeeds whatever the driver has to say of each: who asked for tokens may have them.
TIDEMARK_EXPORT CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values,
                                                CUdeviceptr ptr) {
  uses::cuPointerGetAttributes.entered();
  const CUresult code = real_cuda().cuPointerGetAttributes(count, attributes, values, ptr);
  const bool asks_for_tokens = code == CUDA_SUCCESS && std::find(attributes, attributes + count,
                                                                 CU_POINTER_ATTRIBUTE_P2P_TOKENS) != attributes + count;
  return asks_for_tokens ? shared(code, ptr) : code;
}

}  // extern "C"
