/* Finds the runtime's functions without naming a library: in the global scope, behind itself, by the program's own
 * handle. Whichever way, it is the function that the program is linked to. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "tests/programs/cuda_say.h"

typedef cudaError_t (*allocate_t)(void**, size_t);
typedef cudaError_t (*release_t)(void*);

static void use(const char* what, void* handle) {
  void* block = NULL;
  const allocate_t allocate = (allocate_t)dlsym(handle, "cudaMalloc");
  const release_t release = (release_t)dlsym(handle, "cudaFree");
  printf("%s: %s\n", what, allocate == &cudaMalloc && release == &cudaFree ? "the linked one" : "another one");
  if (allocate == NULL || release == NULL) return;
  say("malloc", allocate(&block, 1000));
  say("interior free", release((char*)block + 256));
  say("free", cudaFree(block));
  say("malloc", cudaMalloc(&block, 3 << 20));
  say("free", release(block));
  say("free again", release(block));
}

int main(void) {
  void* program = dlopen(NULL, RTLD_NOW);
  if (program == NULL) return 1;
  use("in the global scope", RTLD_DEFAULT);
  use("behind the program", RTLD_NEXT);
  use("in the program", program);
  printf("what nobody has: %s\n", dlsym(program, "cudaNoSuchFunction") == NULL ? "NULL" : "found");
  return 0;
}
