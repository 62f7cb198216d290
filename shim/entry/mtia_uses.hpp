// How the MTIA driver's functions were met, each by its own name, and dlsym itself.
#pragma once

#include "shim/backend/mtia_symbols.hpp"
#include "shim/hook/symbol_uses.hpp"

namespace tidemark::entry::uses {

#define X(name) inline constinit hook::SymbolUses name;
TIDEMARK_MTIA_HOOKS(X)
#undef X
inline constinit hook::SymbolUses dlsym;

}  // namespace tidemark::entry::uses
