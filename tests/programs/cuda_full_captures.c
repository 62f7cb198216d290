/* Fills a device of 16 MiB, gives that back, and takes as much again in other ways while a stream captures: in each
 * mode, from the capturing thread and from another. Frees inside a capture that allows it. */
#define __CUDA_API_VERSION_INTERNAL
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/programs/cuda_driver_say.h"

enum { kMost = 100 };
static const size_t kFirst = 10 << 20;
static const size_t kSecond = 12 << 20;

static CUcontext context;
static CUdeviceptr held;

static void allocate(void) {
  CUdeviceptr ptr = 0;
  if (say("  alloc", cuMemAlloc_v2(&ptr, kSecond)) == CUDA_SUCCESS) {
    say("  free", cuMemFree_v2(ptr));
  }
}

static void* in_thread(void* unused) {
  cuCtxSetCurrent(context);
  allocate();
  return unused;
}

static void allocate_elsewhere(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, NULL);
  pthread_join(thread, NULL);
}

static void create(void) {
  CUmemAllocationProp what;
  CUmemGenericAllocationHandle handle = 0;
  memset(&what, 0, sizeof what);
  what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  if (say("  create", cuMemCreate(&handle, kSecond, &what, 0)) == CUDA_SUCCESS) {
    say("  release", cuMemRelease(handle));
  }
}

static void free_and_allocate(void) {
  say("  free", cuMemFree_v2(held));
  held = 0;
  allocate();
}

static void in_capture(const char* what, CUstream stream, CUstreamCaptureMode mode, void (*act)(void)) {
  CUgraph graph = NULL;
  printf("%s, mode %d\n", what, (int)mode);
  say("  fill", cuMemAlloc_v2(&held, kFirst));
  if (act != free_and_allocate) {
    say("  free", cuMemFree_v2(held));
  }
  say("  begin", cuStreamBeginCapture_v2(stream, mode));
  act();
  say("  end", cuStreamEndCapture(stream, &graph));
  if (graph != NULL) {
    cuGraphDestroy(graph);
  }
}

static void in_many_captures(void) {
  CUstream streams[kMost];
  CUgraph graph = NULL;
  printf("%d captures at once\n", kMost);
  for (int i = 0; i < kMost; ++i) {
    cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING);
    cuStreamBeginCapture_v2(streams[i], CU_STREAM_CAPTURE_MODE_RELAXED);
  }
  for (int i = 0; i < kMost; ++i) {
    cuStreamEndCapture(streams[i], &graph);
    cuGraphDestroy(graph);
    cuStreamDestroy_v2(streams[i]);
  }
  allocate();
}

int main(void) {
  CUstream stream = NULL;
  setenv("CUDA_SIM_MEMORY", "16MiB", 1);
  say("init", cuInit(0));
  say("retain", cuDevicePrimaryCtxRetain(&context, 0));
  say("set current", cuCtxSetCurrent(context));
  say("stream create", cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_RELAXED; ++mode) {
    in_capture("alloc", stream, (CUstreamCaptureMode)mode, allocate);
    in_capture("alloc in another thread", stream, (CUstreamCaptureMode)mode, allocate_elsewhere);
    in_capture("create", stream, (CUstreamCaptureMode)mode, create);
  }
  in_capture("free and alloc", stream, CU_STREAM_CAPTURE_MODE_RELAXED, free_and_allocate);
  in_many_captures();
  say("stream destroy", cuStreamDestroy_v2(stream));
  say("release", cuDevicePrimaryCtxRelease_v2(0));
  return 0;
}
