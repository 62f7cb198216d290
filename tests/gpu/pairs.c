/* pairs WORD: what a pair of cudaMalloc and cudaFree costs, by size, on an idle device and with a stream busy; a line a
 * size that begins with WORD. The runtime's own calls, so that native and shimmed runs are the same program. */
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void must(const char* what, cudaError_t code) {
  if (code != cudaSuccess) {
    printf("failed: %s: %s\n", what, cudaGetErrorName(code));
    exit(1);
  }
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

/* The median, in microseconds. */
static double pair_us(size_t size, cudaStream_t stream, void* work, size_t work_size) {
  enum { kPairs = 101 };
  double took[kPairs];
  for (int i = 0; i < kPairs; ++i) {
    void* block = NULL;
    if (stream != NULL) must("cudaMemsetAsync", cudaMemsetAsync(work, i, work_size, stream));
    const double before = now_us();
    must("cudaMalloc", cudaMalloc(&block, size));
    must("cudaFree", cudaFree(block));
    took[i] = now_us() - before;
  }
  qsort(took, kPairs, sizeof took[0], compare);
  return took[kPairs / 2];
}

int main(int argc, char** argv) {
  const char* word = argc > 1 ? argv[1] : "native";
  const size_t work_size = (size_t)64 << 20;
  void* work = NULL;
  cudaStream_t stream;
  must("cudaMalloc", cudaMalloc(&work, work_size));
  must("cudaStreamCreate", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (size_t size = 512; size <= (size_t)1 << 30; size *= 8) {
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    must("cudaMemGetInfo", cudaMemGetInfo(&free_bytes, &total_bytes));
    if (size > free_bytes / 2) break;
    const double idle = pair_us(size, NULL, NULL, 0);
    const double busy = pair_us(size, stream, work, work_size);
    must("cudaDeviceSynchronize", cudaDeviceSynchronize());
    printf("%-8s %10zu bytes: idle %9.2f us, busy %9.2f us\n", word, size, idle, busy);
  }
  must("cudaStreamDestroy", cudaStreamDestroy(stream));
  must("cudaFree", cudaFree(work));
  return 0;
}
