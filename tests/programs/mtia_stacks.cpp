// mtia_stacks WAY...: allocates in functions that are known, one way after the other; says for each the line of its
// call into the driver, then "holding", and holds until its standard input ends. A way that is a path is a library with
// allocate_in_library(): opened, called, and closed again.
#include <dlfcn.h>
#include <mtia.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <thread>

namespace stacks {

// The call stands on the line that is told, and is no tail call.
#define ALLOCATE(bytes, line, block) (line = __LINE__, mtiaMalloc(&(block), bytes) == MTIA_SUCCESS)

__attribute__((noinline)) int allocate(std::size_t bytes) {
  int line = 0;
  void* block = nullptr;
  return ALLOCATE(bytes, line, block) ? line : 0;
}

__attribute__((noinline)) int call_deeper(std::size_t bytes, int depth) {
  const int line = depth == 0 ? allocate(bytes) : call_deeper(bytes, depth - 1);
  asm volatile("" ::: "memory");
  return line;
}

__attribute__((always_inline)) inline int allocate_inline(std::size_t bytes) {
  int line = 0;
  void* block = nullptr;
  return ALLOCATE(bytes, line, block) ? line : 0;
}

__attribute__((noinline)) int call_inlined(std::size_t bytes) {
  const int line = allocate_inline(bytes);
  asm volatile("" ::: "memory");
  return line;
}

__attribute__((noinline)) int allocate_in_thread(std::size_t bytes) {
  int line = 0;
  std::thread{[&] { line = allocate(bytes); }}.join();
  return line;
}

#undef ALLOCATE

int allocate_in_library(const char* path, std::size_t bytes) {
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 0;
  }
  const int line = reinterpret_cast<int (*)(std::size_t)>(dlsym(library, "allocate_in_library"))(bytes);
  dlclose(library);
  return line;
}

int allocate_by(const char* way) {
  if (std::strcmp(way, "deep") == 0) {
    return call_deeper(1000, 5);
  }
  if (std::strcmp(way, "deeper") == 0) {
    return call_deeper(1000, 100);
  }
  if (std::strcmp(way, "inlined") == 0) {
    return call_inlined(2000);
  }
  if (std::strcmp(way, "thread") == 0) {
    return allocate_in_thread(3000);
  }
  return allocate_in_library(way, 4000);
}

}  // namespace stacks

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const int line = stacks::allocate_by(argv[i]);
    if (line == 0) {
      return 1;
    }
    std::printf("%d\n", line);
  }
  std::puts("holding");
  std::fflush(stdout);
  char ignored[256];
  while (read(STDIN_FILENO, ignored, sizeof ignored) > 0) {
  }
  return 0;
}
