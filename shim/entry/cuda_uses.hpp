// How CUDA's functions were met, each by its own name: uses::cuMemAlloc_v2.
#pragma once

#include "shim/backend/cuda_runtimes.hpp"
#include "shim/backend/cuda_symbols.hpp"
#include "shim/hook/symbol_uses.hpp"

namespace tidemark::entry::uses {

#define X(symbol, base, version, flags) inline constinit hook::SymbolUses symbol;
TIDEMARK_CUDA_DRIVER_HOOKS(X)
#undef X
#define X(name) inline constinit hook::SymbolUses name;
TIDEMARK_CUDA_RUNTIME_HOOKS(X)
#undef X

}  // namespace tidemark::entry::uses
