/* What only a driver can answer, one line each: the open questions on which the library's ways depend. Run without the
 * library. On the simulated driver it answers too, which shows that the program works and nothing else. */
#define _GNU_SOURCE
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kMiB = 1024 * 1024 };

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void must(const char* what, CUresult code) {
  if (code != CUDA_SUCCESS) {
    printf("failed: %s: %d\n", what, code);
    exit(1);
  }
}

/* Some milliseconds of work on a stream. */
static CUdeviceptr scratch;
static void keep_busy(CUstream stream) {
  for (int i = 0; i < 64; ++i) must("cuMemsetD8Async", cuMemsetD8Async(scratch, (unsigned char)i, 256U * kMiB, stream));
}

/* 1: are resolved functions the exported ones? We know a function by its address. */
static void compare_addresses(void) {
  static const struct {
    const char *symbol, *base;
    int version;
    cuuint64_t flags;
  } kNames[] = {{"cuMemAlloc_v2", "cuMemAlloc", 3020, 0},
                {"cuMemFree_v2", "cuMemFree", 3020, 0},
                {"cuMemGetInfo_v2", "cuMemGetInfo", 3020, 0},
                {"cuMemAllocAsync", "cuMemAllocAsync", 11020, 0},
                {"cuMemAllocAsync_ptsz", "cuMemAllocAsync", 11020, 2},
                {"cuMemFreeAsync", "cuMemFreeAsync", 11020, 0},
                {"cuMemFreeAsync_ptsz", "cuMemFreeAsync", 11020, 2},
                {"cuMemCreate", "cuMemCreate", 10020, 0},
                {"cuCtxDestroy_v2", "cuCtxDestroy", 4000, 0},
                {"cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease", 11000, 0},
                {"cuStreamBeginCapture_v2", "cuStreamBeginCapture", 10010, 0},
                {"cuGetProcAddress_v2", "cuGetProcAddress", 12000, 0}};
  int equal = 0;
  const int count = (int)(sizeof kNames / sizeof kNames[0]);
  for (int i = 0; i < count; ++i) {
    void* resolved = NULL;
    void* exported = dlsym(RTLD_DEFAULT, kNames[i].symbol);
    const CUresult code = cuGetProcAddress_v2(kNames[i].base, &resolved, kNames[i].version, kNames[i].flags, NULL);
    if (code == CUDA_SUCCESS && resolved == exported) {
      ++equal;
    } else {
      printf("  %s: code %d, resolved %s exported\n", kNames[i].symbol, code, resolved == exported ? "==" : "!=");
    }
  }
  printf("1 resolved functions equal to the exported ones: %d of %d\n", equal, count);
}

/* 2: what cuCtxRecordEvent costs, and whether it waits for a stream that doesn't wait for the default one. */
static void try_context_event(CUcontext context) {
  CUevent event;
  CUstream stream;
  must("cuEventCreate", cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  must("cuStreamCreate", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const double before = now_us();
  for (int i = 0; i < 100; ++i) must("cuCtxRecordEvent", cuCtxRecordEvent(context, event));
  const double cost = (now_us() - before) / 100;
  must("cuCtxSynchronize", cuCtxSynchronize());
  keep_busy(stream);
  must("cuCtxRecordEvent", cuCtxRecordEvent(context, event));
  const CUresult busy = cuEventQuery(event);
  must("cuStreamSynchronize", cuStreamSynchronize(stream));
  must("cuCtxSynchronize", cuCtxSynchronize());
  printf("2 cuCtxRecordEvent: %.2f us; with a non-blocking stream busy %d (600: not ready), afterwards %d\n", cost,
         busy, cuEventQuery(event));
  must("cuEventDestroy", cuEventDestroy_v2(event));
  must("cuStreamDestroy", cuStreamDestroy_v2(stream));
}

/* 3: does a free wait for the device? */
static void try_free_of(size_t size) {
  CUstream stream;
  CUdeviceptr block;
  must("cuStreamCreate", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  must("cuMemAlloc", cuMemAlloc_v2(&block, size));
  must("cuCtxSynchronize", cuCtxSynchronize());
  keep_busy(stream);
  const double before = now_us();
  must("cuMemFree", cuMemFree_v2(block));
  const double took = now_us() - before;
  const CUresult after = cuStreamQuery(stream);
  must("cuStreamSynchronize", cuStreamSynchronize(stream));
  printf("3 cuMemFree of %zu bytes while a stream is busy: %.1f us, the stream is then %d (600: still busy)\n", size,
         took, after);
  must("cuStreamDestroy", cuStreamDestroy_v2(stream));
}

/* 4 and 5: codes of odd calls. */
static void try_odd_calls(void) {
  CUdeviceptr none = 0;
  CUdeviceptr block;
  printf("4 cuMemAlloc of 0 bytes: %d; cuMemFree of NULL: %d\n", cuMemAlloc_v2(&none, 0), cuMemFree_v2(0));
  must("cuMemAlloc", cuMemAlloc_v2(&block, 2 * kMiB));
  const CUresult interior = cuMemFree_v2(block + 512);
  must("cuMemFree", cuMemFree_v2(block));
  printf("4 cuMemFree of an interior pointer: %d; a second time: %d\n", interior, cuMemFree_v2(block));
  must("cuMemAlloc", cuMemAlloc_v2(&block, 2 * kMiB));
  const CUresult async = cuMemFreeAsync(block, NULL);
  must("cuStreamSynchronize", cuStreamSynchronize(NULL));
  printf("5 cuMemFreeAsync of a block from cuMemAlloc: %d\n", async);
  if (async != CUDA_SUCCESS) must("cuMemFree", cuMemFree_v2(block));
}

/* Which kind of memory a managed pointer says it is: by it we tell a pool's device from the host. */
static void try_managed(void) {
  CUdeviceptr block;
  CUmemorytype type = 0;
  unsigned is_managed = 0;
  if (cuMemAllocManaged(&block, 2 * kMiB, CU_MEM_ATTACH_GLOBAL) != CUDA_SUCCESS) {
    puts("6 managed memory: not supported");
    return;
  }
  const CUresult code = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block);
  (void)cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, block);
  printf("6 managed memory says it is of type %d (1 host, 2 device; code %d), managed %u\n", (int)type, code,
         is_managed);
  must("cuMemFree", cuMemFree_v2(block));
}

int main(void) {
  CUdevice device;
  CUcontext context;
  int version = 0;
  must("cuInit", cuInit(0));
  must("cuDriverGetVersion", cuDriverGetVersion(&version));
  must("cuDeviceGet", cuDeviceGet(&device, 0));
  must("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, device));
  must("cuCtxSetCurrent", cuCtxSetCurrent(context));
  must("cuMemAlloc", cuMemAlloc_v2(&scratch, 256U * kMiB));
  printf("driver %d\n", version);
  compare_addresses();
  try_context_event(context);
  try_free_of(4096);
  try_free_of(64U * kMiB);
  try_odd_calls();
  try_managed();
  must("cuMemFree", cuMemFree_v2(scratch));
  must("cuDevicePrimaryCtxRelease", cuDevicePrimaryCtxRelease_v2(device));
  return 0;
}
