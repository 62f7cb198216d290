/* The driver without a runtime: a context of its own, one on the device's primary context, and the same sizes in both.
 */
#include "tests/programs/cuda_driver_say.h"

static const size_t kSizes[] = {1, 1000, 65536, 1048576, 1048577, 3145728};
enum { kCount = sizeof(kSizes) / sizeof(kSizes[0]) };

static void use(void) {
  CUdeviceptr blocks[kCount];
  CUdeviceptr nothing = 1;
  for (int i = 0; i < kCount; ++i) {
    unsigned int back = 0;
    say_of("alloc", kSizes[i], cuMemAlloc(&blocks[i], kSizes[i]));
    if (kSizes[i] < sizeof(back)) continue;
    say("set", cuMemsetD32(blocks[i], 0x01020304u * (unsigned)(i + 1), kSizes[i] / sizeof(back)));
    say("copy back", cuMemcpyDtoH(&back, blocks[i], sizeof(back)));
    printf("it holds %08x\n", back);
  }
  for (int i = 0; i < kCount; ++i) say_of("free", kSizes[i], cuMemFree(blocks[i]));
  say("free again", cuMemFree(blocks[0]));
  say("alloc of nothing", cuMemAlloc(&nothing, 0));
  say("free of 0", cuMemFree(0));
}

int main(void) {
  CUdevice device = 0;
  CUcontext context = NULL;
  CUdeviceptr block = 0;
  int version = 0;
  say("alloc before init", cuMemAlloc(&block, 512));
  say("init", cuInit(0));
  say("version", cuDriverGetVersion(&version));
  say("device", cuDeviceGet(&device, 1));
  say("alloc without a context", cuMemAlloc(&block, 512));

  puts("-- a context of its own");
#if CUDA_VERSION >= 13000
  say("create", cuCtxCreate(&context, NULL, 0, device));
#else
  say("create", cuCtxCreate(&context, 0, device));
#endif
  use();
  say("destroy", cuCtxDestroy(context));
  say("alloc in a destroyed context", cuMemAlloc(&block, 512));

  puts("-- the primary context");
  say("retain", cuDevicePrimaryCtxRetain(&context, device));
  say("push", cuCtxPushCurrent(context));
  use();
  say("pop", cuCtxPopCurrent(&context));
  say("release", cuDevicePrimaryCtxRelease(device));
  say("release once more", cuDevicePrimaryCtxRelease(device));
  return 0;
}
