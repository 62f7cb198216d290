// Functions that call each other and note where each of them returns to: what a walk has to find, to the byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tidemark::stacks {

struct Chain {
  void (*at_the_end)(void* data);
  void* data;
  std::array<std::uintptr_t, 16> returns_to{};  // the outermost first
  std::size_t depth = 0;
};

}  // namespace tidemark::stacks

// First line of each function of a chain.
#define TIDEMARK_NOTE_RETURN(chain) \
  (chain).returns_to[(chain).depth++] = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0))

// One a way of compiling (CMakeLists.txt).
extern "C" {
void tidemark_chain_without_fp(tidemark::stacks::Chain& chain);
void tidemark_chain_with_fp(tidemark::stacks::Chain& chain);
void tidemark_chain_unoptimised(tidemark::stacks::Chain& chain);
// Hand-written, without tables: rbp kept and used as a frame pointer; not touched; used for something else.
void tidemark_call_with_fp(void (*function)(void*), void* data);
void tidemark_call_without_fp(void (*function)(void*), void* data);
void tidemark_call_with_other_rbp(void (*function)(void*), void* data);
}
