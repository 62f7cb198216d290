// What cuGetProcAddress answers from: the table made of the toolkit's headers. Works before cuInit; any thread may
// call.
#pragma once

#include <cuda.h>

#include <string>
#include <string_view>

namespace cuda_sim {

struct Resolved {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

// The newest ABI of `base` that is no newer than `version`; a per-thread form where there is one and it is preferred.
Resolved resolve(std::string_view base, int version, bool prefer_per_thread);

// The exported symbol of a function's newest ABI (cuMemAlloc: cuMemAlloc_v2); an unknown name as it is.
std::string newest_symbol(const std::string& base);

}  // namespace cuda_sim
