// A chain of four frames, each of another form: plain, of run-time size, aligned beyond the convention, with a handler.
#include "tests/stacks/chain.hpp"

#include <alloca.h>

namespace {

// The compiler must believe that it is needed and changed.
void keep(void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

using tidemark::stacks::Chain;

__attribute__((noinline)) void last(Chain& chain) {
  TIDEMARK_NOTE_RETURN(chain);
  chain.at_the_end(chain.data);
  keep(&chain);
}

__attribute__((noinline)) void with_a_handler(Chain& chain) {
  TIDEMARK_NOTE_RETURN(chain);
  try {
    last(chain);
  } catch (int number) {
    keep(&number);
  }
  keep(&chain);
}

__attribute__((noinline)) void aligned(Chain& chain) {
  TIDEMARK_NOTE_RETURN(chain);
  alignas(64) char memory[256];
  keep(memory);
  with_a_handler(chain);
  keep(memory);
}

__attribute__((noinline)) void of_any_size(Chain& chain, std::size_t bytes) {
  TIDEMARK_NOTE_RETURN(chain);
  void* memory = alloca(bytes);
  keep(memory);
  aligned(chain);
  keep(memory);
}

}  // namespace

extern "C" __attribute__((noinline, visibility("default"))) void TIDEMARK_CHAIN(Chain& chain) {
  TIDEMARK_NOTE_RETURN(chain);
  char memory[TIDEMARK_CHAIN_BYTES];
  keep(memory);
  of_any_size(chain, 100 + chain.depth);
  keep(memory);
}
