// The names that dlsym answers with a function of ours, in a build without CUDA.
#include <array>

#include "shim/entry/dlsym_answer.hpp"
#include "shim/entry/mtia_entry.hpp"
#include "shim/entry/mtia_uses.hpp"
#include "shim/entry/sorted_symbols.hpp"

namespace tidemark::entry {
namespace {

#define X(name) NamedUses{#name, &uses::name},
constexpr std::array kMtiaNames = {TIDEMARK_MTIA_HOOKS(X)};
#undef X
constexpr std::array kLoaderNames = {NamedUses{"dlsym", &uses::dlsym}};

constexpr auto kSymbols = sorted_symbols(named(kMtiaNames, &answer_mtia), named(kLoaderNames, &answer_dlsym_itself));

}  // namespace
}  // namespace tidemark::entry

constinit const std::span<const tidemark::hook::HookedSymbol> tidemark::hook::hooked_symbols{tidemark::entry::kSymbols};
