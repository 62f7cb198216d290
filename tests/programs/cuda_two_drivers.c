/* cuda_two_drivers [LIBRARY deep]: carries a static runtime of its own and opens another one as well, which has a
 * driver inside; or LIBRARY, which reaches the same driver as the static one, past all that stands in front of it. Each
 * is asked to free and to export what the other allocated: memory that it knows it frees, any other it refuses, and
 * nothing else is touched. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "tests/programs/cuda_say.h"

enum { kSmall = 1000, kLarge = 3 << 20 };

struct runtime {
  const char* name;
  cudaError_t (*allocate)(void**, size_t);
  cudaError_t (*release)(void*);
  cudaError_t (*release_async)(void*, cudaStream_t);
  cudaError_t (*set)(void*, int, size_t);
  cudaError_t (*copy)(void*, const void*, size_t, enum cudaMemcpyKind);
  cudaError_t (*export)(cudaIpcMemHandle_t*, void*);
  cudaError_t (*last_error)(void);
};

/* Blocks of one runtime; the second is between two others, and stays whole. */
struct blocks {
  void* small[4];
  void* large;
};

static void say_in(const struct runtime* runtime, const char* what, cudaError_t result) {
  printf("%s, %s: ", runtime->name, what);
  say("code", result);
  say("  its last error", runtime->last_error());
}

static void allocate(const struct runtime* runtime, struct blocks* blocks) {
  for (int i = 0; i < 4; ++i) say_in(runtime, "malloc", runtime->allocate(&blocks->small[i], kSmall));
  say_in(runtime, "malloc", runtime->allocate(&blocks->large, kLarge));
  say_in(runtime, "memset", runtime->set(blocks->small[1], 0x5A, kSmall));
}

static void use_others(const struct runtime* runtime, const struct blocks* others) {
  cudaIpcMemHandle_t handle;
  say_in(runtime, "interior free", runtime->release((char*)others->small[0] + 256));
  say_in(runtime, "free", runtime->release(others->small[0]));
  say_in(runtime, "free in a stream's order", runtime->release_async(others->small[2], NULL));
  say_in(runtime, "handle", runtime->export(&handle, others->large));
  say_in(runtime, "free of the large one", runtime->release(others->large));
}

static void release(const struct runtime* runtime, const struct blocks* blocks) {
  unsigned char bytes[kSmall];
  int is_whole = runtime->copy(bytes, blocks->small[1], kSmall, cudaMemcpyDeviceToHost) == cudaSuccess;
  for (int i = 0; i < kSmall; ++i) is_whole = is_whole && bytes[i] == 0x5A;
  printf("%s, the block between is whole: %s\n", runtime->name, is_whole ? "yes" : "no");
  for (int i = 0; i < 4; ++i) say_in(runtime, "free", runtime->release(blocks->small[i]));
  say_in(runtime, "free of the large one", runtime->release(blocks->large));
}

int main(int argc, char** argv) {
  const int is_deep = argc > 2;
  void* library = dlopen(is_deep ? argv[1] : BARE_CUDART, RTLD_NOW | RTLD_LOCAL | (is_deep ? RTLD_DEEPBIND : 0));
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const struct runtime mine = {"static",   cudaMalloc,          cudaFree,        cudaFreeAsync, cudaMemset,
                               cudaMemcpy, cudaIpcGetMemHandle, cudaGetLastError};
  const struct runtime theirs = {
      "other",
      (cudaError_t(*)(void**, size_t))dlsym(library, "cudaMalloc"),
      (cudaError_t(*)(void*))dlsym(library, "cudaFree"),
      (cudaError_t(*)(void*, cudaStream_t))dlsym(library, "cudaFreeAsync"),
      (cudaError_t(*)(void*, int, size_t))dlsym(library, "cudaMemset"),
      (cudaError_t(*)(void*, const void*, size_t, enum cudaMemcpyKind))dlsym(library, "cudaMemcpy"),
      (cudaError_t(*)(cudaIpcMemHandle_t*, void*))dlsym(library, "cudaIpcGetMemHandle"),
      (cudaError_t(*)(void))dlsym(library, "cudaGetLastError")};
  if (theirs.allocate == NULL || theirs.release == NULL || theirs.release_async == NULL || theirs.set == NULL ||
      theirs.copy == NULL || theirs.export == NULL || theirs.last_error == NULL) {
    return 1;
  }
  struct blocks my_blocks = {{NULL}, NULL};
  struct blocks their_blocks = {{NULL}, NULL};
  allocate(&mine, &my_blocks);
  use_others(&theirs, &my_blocks); /* before it has allocated anything itself */
  release(&mine, &my_blocks);
  allocate(&mine, &my_blocks);
  allocate(&theirs, &their_blocks);
  use_others(&theirs, &my_blocks);
  use_others(&mine, &their_blocks);
  release(&mine, &my_blocks);
  release(&theirs, &their_blocks);
  return 0;
}
