/* The sample flow of the MTIA guide, in C: a phase's peak, by a reset at its start. Two tensors of 1024 x 1024 floats.
 */
#include <stddef.h>
#include <stdio.h>

#include <mtia.h>
#include <tidemark/tidemark.h>

int main(void) {
  const size_t tensor = sizeof(float) * 1024 * 1024;
  void* a = NULL;
  void* b = NULL;
  void* warm = NULL;
  if (mtiaMalloc(&warm, 64 * tensor) != MTIA_SUCCESS || mtiaFree(warm) != MTIA_SUCCESS) {
    return 1;
  }

  tidemark_reset_peak_memory_stats(NULL, "mtia:0");
  if (mtiaMalloc(&a, tensor) != MTIA_SUCCESS || mtiaMalloc(&b, tensor) != MTIA_SUCCESS) {
    return 1;
  }
  printf("two tensors: allocated %lld, peak %lld\n", (long long)tidemark_memory_allocated(NULL, NULL),
         (long long)tidemark_max_memory_allocated(NULL, NULL));
  mtiaFree(a);
  printf("one freed: allocated %lld, peak %lld\n", (long long)tidemark_memory_allocated(NULL, NULL),
         (long long)tidemark_max_memory_allocated(NULL, NULL));
  tidemark_reset_peak_memory_stats(NULL, NULL);
  printf("reset: allocated %lld, peak %lld\n", (long long)tidemark_memory_allocated(NULL, NULL),
         (long long)tidemark_max_memory_allocated(NULL, NULL));
  mtiaFree(b);
  tidemark_empty_cache(NULL, "all");
  printf("all freed, cache empty: allocated %lld, reserved %lld\n", (long long)tidemark_memory_allocated(NULL, NULL),
         (long long)tidemark_memory_reserved(NULL, NULL));
  return 0;
}
