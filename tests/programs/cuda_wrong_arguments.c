/* Calls the driver's functions around memory, contexts and captures with nothing where something has to be, and with
 * what no driver ever gave: before it is initialised, without a context, and in one. */
#define __CUDA_API_VERSION_INTERNAL
#include <string.h>

#include "tests/programs/cuda_driver_say.h"

/* Nobody's, and looks like an address or a handle. */
static const CUdeviceptr kForeign = 0x123456000;
static void* const kForeignHandle = (void*)0x123456000;

#define TRY(call) say(#call, call)

static void allocate_into_nothing(void) {
  TRY(cuMemAlloc_v2(NULL, 512));
  TRY(cuMemAllocPitch_v2(NULL, NULL, 100, 100, 4));
  TRY(cuMemAllocManaged(NULL, 512, CU_MEM_ATTACH_GLOBAL));
  TRY(cuMemAllocAsync(NULL, 512, NULL));
  TRY(cuMemAllocAsync_ptsz(NULL, 512, NULL));
  TRY(cuMemAllocFromPoolAsync(NULL, 512, NULL, NULL));
  TRY(cuMemAllocFromPoolAsync_ptsz(NULL, 512, NULL, NULL));
  TRY(cuMemAllocHost_v2(NULL, 512));
  TRY(cuMemHostAlloc(NULL, 512, 0));
  TRY(cuMemHostRegister(NULL, 512, 0));
  TRY(cuMemHostRegister_v2(NULL, 512, 0));
  TRY(cuMemGetInfo_v2(NULL, NULL));
  TRY(cuMemCreate(NULL, 2 << 20, NULL, 0));
  TRY(cuMemRetainAllocationHandle(NULL, kForeignHandle));
  TRY(cuMemImportFromShareableHandle(NULL, kForeignHandle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  TRY(cuArrayCreate_v2(NULL, NULL));
  TRY(cuArray3DCreate_v2(NULL, NULL));
  TRY(cuMipmappedArrayCreate(NULL, NULL, 3));
}

static void give_back_what_is_nobodys(void) {
  TRY(cuMemFree_v2(0));
  TRY(cuMemFree_v2(kForeign));
  TRY(cuMemFreeAsync(0, NULL));
  TRY(cuMemFreeAsync(kForeign, NULL));
  TRY(cuMemFreeAsync_ptsz(kForeign, NULL));
  TRY(cuMemFreeHost(NULL));
  TRY(cuMemFreeHost(kForeignHandle));
  TRY(cuMemHostUnregister(NULL));
  TRY(cuMemHostUnregister(kForeignHandle));
  TRY(cuMemRelease(0));
  TRY(cuMemRelease(kForeign));
  TRY(cuMemMap(kForeign, 2 << 20, 0, kForeign, 0));
  TRY(cuMemUnmap(kForeign, 2 << 20));
  TRY(cuArrayDestroy(NULL));
  TRY(cuArrayDestroy((CUarray)kForeignHandle));
  TRY(cuMipmappedArrayDestroy((CUmipmappedArray)kForeignHandle));
  TRY(cuIpcCloseMemHandle(0));
  TRY(cuIpcCloseMemHandle(kForeign));
  TRY(cuDestroyExternalMemory(NULL));
  TRY(cuDestroyExternalMemory((CUexternalMemory)kForeignHandle));
}

static void share_nothing(void) {
  CUipcMemHandle handle;
  memset(&handle, 0, sizeof handle);
  TRY(cuIpcGetMemHandle(NULL, kForeign));
  TRY(cuIpcGetMemHandle(&handle, 0));
  TRY(cuIpcOpenMemHandle(NULL, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  TRY(cuIpcOpenMemHandle_v2(NULL, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  TRY(cuMemPoolImportPointer(NULL, NULL, NULL));
  TRY(cuImportExternalMemory(NULL, NULL));
  TRY(cuMemGetHandleForAddressRange(NULL, kForeign, 4096, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
  TRY(cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, kForeign));
  TRY(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_P2P_TOKENS, kForeign));
  TRY(cuPointerGetAttributes(1, NULL, NULL, kForeign));
  TRY(cuPointerGetAttributes(0, NULL, NULL, kForeign));
}

static void end_nothing(void) {
  TRY(cuCtxCreate_v2(NULL, 0, 0));
  TRY(cuCtxCreate_v3(NULL, NULL, 0, 0, 0));
  TRY(cuCtxDestroy_v2(NULL));
  TRY(cuCtxDetach(NULL));
  TRY(cuCtxEnablePeerAccess(NULL, 0));
  TRY(cuDevicePrimaryCtxRetain(NULL, 0));
  TRY(cuDevicePrimaryCtxRelease_v2(1));
  TRY(cuDevicePrimaryCtxRelease_v2(77));
  TRY(cuDevicePrimaryCtxReset_v2(77));
  TRY(cuStreamBeginCapture_v2((CUstream)kForeignHandle, CU_STREAM_CAPTURE_MODE_RELAXED));
  TRY(cuStreamEndCapture((CUstream)kForeignHandle, NULL));
  TRY(cuStreamEndCapture(NULL, NULL));
  TRY(cuStreamDestroy_v2(NULL));
  TRY(cuStreamDestroy_v2((CUstream)kForeignHandle));
}

static void try_all(const char* when) {
  printf("-- %s\n", when);
  allocate_into_nothing();
  give_back_what_is_nobodys();
  share_nothing();
  end_nothing();
}

int main(void) {
  CUcontext context = NULL;
  CUdeviceptr block = 0;
  size_t free_bytes = 1;
  size_t total = 0;
  try_all("not initialised");
  TRY(cuInit(0));
  try_all("without a context");
  TRY(cuDevicePrimaryCtxRetain(&context, 0));
  TRY(cuCtxSetCurrent(context));
  try_all("in a context, before the first block");
  TRY(cuMemAlloc_v2(&block, 1000));
  try_all("and after it");
  TRY(cuMemGetInfo_v2(&free_bytes, NULL));
  TRY(cuMemGetInfo_v2(NULL, &total));
  TRY(cuMemFree_v2(block));
  TRY(cuDevicePrimaryCtxRelease_v2(0));
  return 0;
}
