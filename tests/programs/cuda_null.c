/* NULL where a result is to be written, and other wrong arguments, in the runtime and in the driver. */
#include <cuda.h>

#include "tests/programs/cuda_say.h"

static void say_driver(const char* what, CUresult result) { say(what, (cudaError_t)result); }

int main(void) {
  char host[16] = {0};
  void* block = NULL;
  void* untouched = host;
  size_t size = 0;
  int device = 0;
  cudaStream_t stream = NULL;
  cudaEvent_t event = NULL;
  CUdeviceptr address = 0;
  say("init with flags", (cudaError_t)cuInit(1));
  say("malloc to NULL", cudaMalloc(NULL, 512));
  say("malloc of nothing to NULL", cudaMalloc(NULL, 0));
  say("last error", cudaPeekAtLastError());
  say("last error", cudaGetLastError());
  say("last error", cudaGetLastError());
  say("malloc of too much", cudaMalloc(&untouched, (size_t)1 << 50));
  say("malloc of everything", cudaMalloc(&untouched, (size_t)-1));
  printf("the pointer is %s\n", untouched == host ? "untouched" : "changed");
  say("info to NULL", cudaMemGetInfo(NULL, NULL));
  say("total alone", cudaMemGetInfo(NULL, &size));
  say("count to NULL", cudaGetDeviceCount(NULL));
  say("set device -1", cudaSetDevice(-1));
  say("set device 1000", cudaSetDevice(1000));
  say("get device", cudaGetDevice(&device));
  printf("the device is %d\n", device);
  say("properties of device 1000", cudaGetDeviceProperties(NULL, 1000));
  say_driver("alloc to NULL", cuMemAlloc(NULL, 512));
  say_driver("alloc of nothing", cuMemAlloc(&address, 0));
  say_driver("info to NULL", cuMemGetInfo(NULL, NULL));
  say_driver("device to NULL", cuDeviceGet(NULL, 0));
  say_driver("error name to NULL", cuGetErrorName(CUDA_SUCCESS, NULL));
  say_driver("resolve into NULL", cuGetProcAddress("cuMemAlloc", NULL, 12000, 0, NULL));

  say("malloc", cudaMalloc(&block, 512));
  say_driver("range to NULL", cuMemGetAddressRange(NULL, NULL, (CUdeviceptr)block));
  say_driver("range of nothing", cuMemGetAddressRange(NULL, NULL, 0x1234));
  say("copy from NULL", cudaMemcpy(block, NULL, 16, cudaMemcpyHostToDevice));
  say("copy of nothing", cudaMemcpy(block, host, 0, cudaMemcpyHostToDevice));
  say("copy the wrong way", cudaMemcpy(block, host, 16, cudaMemcpyDeviceToHost));
  say("copy no way", cudaMemcpy(block, host, 16, (enum cudaMemcpyKind)17));
  say("set host memory", cudaMemset(host, 0, 16));
  say("stream create", cudaStreamCreate(&stream));
  say("stream destroy", cudaStreamDestroy(stream));
  say("stream destroyed twice", cudaStreamDestroy(stream));
  say("set in a destroyed stream", cudaMemsetAsync(block, 0, 16, stream));
  say("event create", cudaEventCreate(&event));
  say("event query before record", cudaEventQuery(event));
  say("event destroy", cudaEventDestroy(event));
  say("event query after destroy", cudaEventQuery(event));
  say("no host function", cudaLaunchHostFunc(NULL, NULL, NULL));
  say("a handle of host memory", cudaIpcGetMemHandle((cudaIpcMemHandle_t*)host, &device));
  say("free", cudaFree(block));
  printf("12345 is %s, %s\n", cudaGetErrorName((cudaError_t)12345), cudaGetErrorString((cudaError_t)12345));
  return 0;
}
