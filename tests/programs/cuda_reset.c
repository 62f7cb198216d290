/* Ends contexts that hold memory: by a reset of the device, by the last release of its primary context, by destroying
 * one of the program's own. The memory is gone, the device works on, the other one has noticed nothing. */
#include <cuda.h>

#include "tests/programs/cuda_say.h"

static void say_driver(const char* what, CUresult result) { say(what, (cudaError_t)result); }

static void reset(void) {
  void* gone = NULL;
  void* stays = NULL;
  cudaStream_t stream = NULL;
  say("set device", cudaSetDevice(1));
  say("malloc", cudaMalloc(&stays, 4 << 20));
  say("set device", cudaSetDevice(0));
  say("malloc", cudaMalloc(&gone, 3 << 20));
  say("stream create", cudaStreamCreate(&stream));
  say("memset", cudaMemsetAsync(gone, 1, 3 << 20, stream));
  say("reset", cudaDeviceReset());
  say("free of what is gone", cudaFree(gone));
  say("copy to what is gone", cudaMemset(gone, 1, 16));
  say("stream that is gone", cudaStreamSynchronize(stream));
  say("malloc", cudaMalloc(&gone, 3 << 20));
  say("memset", cudaMemset(gone, 2, 3 << 20));
  say("free", cudaFree(gone));
  say("memset on the other", cudaMemset(stays, 3, 4 << 20));
  say("free on the other", cudaFree(stays));
  say("reset", cudaDeviceReset());
}

static void destroy(void) {
  CUcontext context = NULL;
  CUcontext current = NULL;
  CUdeviceptr gone = 0;
#if CUDA_VERSION >= 13000
  say_driver("create", cuCtxCreate(&context, NULL, 0, 0));
#else
  say_driver("create", cuCtxCreate(&context, 0, 0));
#endif
  say_driver("alloc", cuMemAlloc(&gone, 1000));
  say_driver("alloc", cuMemAlloc(&gone, 3 << 20));
  say_driver("destroy", cuCtxDestroy(context));
  say_driver("current", cuCtxGetCurrent(&current));
  printf("a context is current: %s\n", current != NULL ? "yes" : "no");
  say_driver("destroy again", cuCtxDestroy(context));
}

static void release(void) {
  CUcontext context = NULL;
  CUdeviceptr gone = 0;
  unsigned int flags = 0;
  int active = 0;
  say_driver("retain", cuDevicePrimaryCtxRetain(&context, 1));
  say_driver("set current", cuCtxSetCurrent(context));
  say_driver("alloc", cuMemAlloc(&gone, 1000));
  say_driver("release", cuDevicePrimaryCtxRelease(1));
  say_driver("state", cuDevicePrimaryCtxGetState(1, &flags, &active));
  printf("active: %s\n", active ? "yes" : "no");
  say_driver("alloc in what has ended", cuMemAlloc(&gone, 1000));
  say_driver("retain", cuDevicePrimaryCtxRetain(&context, 1));
  say_driver("free of what is gone", cuMemFree(gone));
  say_driver("alloc", cuMemAlloc(&gone, 1000));
  say_driver("free", cuMemFree(gone));
  say_driver("release", cuDevicePrimaryCtxRelease(1));
}

int main(void) {
  say_driver("init", cuInit(0));
  destroy();
  release();
  say_driver("set current", cuCtxSetCurrent(NULL));
  reset();
  return 0;
}
