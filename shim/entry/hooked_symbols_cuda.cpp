// The names that dlsym answers with a function of ours: CUDA's driver and runtimes, MTIA's driver, and dlsym itself.
#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "shim/entry/cuda_driver_entry.hpp"
#include "shim/entry/cuda_runtime_entry.hpp"
#include "shim/entry/cuda_uses.hpp"
#include "shim/entry/dlsym_answer.hpp"
#include "shim/entry/mtia_entry.hpp"
#include "shim/entry/mtia_uses.hpp"
#include "shim/entry/sorted_symbols.hpp"

namespace tidemark::entry {
namespace {

#define X(symbol, base, version, flags) NamedUses{#symbol, &uses::symbol},
constexpr std::array kDriverNames = {TIDEMARK_CUDA_DRIVER_HOOKS(X)};
#undef X
#define X(name) NamedUses{#name, &uses::name},
constexpr std::array kRuntimeNames = {TIDEMARK_CUDA_RUNTIME_HOOKS(X)};
constexpr std::array kMtiaNames = {TIDEMARK_MTIA_HOOKS(X)};
#undef X
constexpr std::array kLoaderNames = {NamedUses{"dlsym", &uses::dlsym}};

constexpr auto kSymbols =
    sorted_symbols(named(kDriverNames, &answer_cuda_driver), named(kRuntimeNames, &answer_cuda_runtime),
                   named(kMtiaNames, &answer_mtia), named(kLoaderNames, &answer_dlsym_itself));

}  // namespace
}  // namespace tidemark::entry

constinit const std::span<const tidemark::hook::HookedSymbol> tidemark::hook::hooked_symbols{tidemark::entry::kSymbols};
