// What mtia_stacks opens, calls and closes again.
#include <mtia.h>

#include <cstddef>

namespace stacks {

__attribute__((noinline)) int allocate_for(std::size_t bytes) {
  void* block = nullptr;
  const int line = mtiaMalloc(&block, bytes) == MTIA_SUCCESS ? __LINE__ : 0;
  asm volatile("" ::: "memory");
  return line;
}

}  // namespace stacks

extern "C" __attribute__((visibility("default"))) int allocate_in_library(std::size_t bytes) {
  const int line = stacks::allocate_for(bytes);
  asm volatile("" ::: "memory");
  return line;
}
