// The functions of the CUDA driver that we stand in front of or call, as the program itself would reach them.
//
// The internal macro must come before cuda.h: without it the header renames cuMemAlloc to cuMemAlloc_v2 and so on, and
// a definition of the first silently defines the second. With it every symbol is declared under its true name.
#pragma once

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>

#include "shim/hook/real_symbol.hpp"

namespace tidemark::backend {

// X(symbol, base name, version, flags): exported by us; the last three are how cuGetProcAddress is asked for exactly
// this symbol (version: the CUDA version in which its ABI appeared; flag 2: the per-thread default stream's variant).
// The two symbols of a pair may share one address in a driver; then either of ours serves.
#define TIDEMARK_CUDA_DRIVER_HOOKS(X)                                            \
  X(cuArray3DCreate_v2, "cuArray3DCreate", 3020, 0)                              \
  X(cuArrayCreate_v2, "cuArrayCreate", 3020, 0)                                  \
  X(cuArrayDestroy, "cuArrayDestroy", 2000, 0)                                   \
  X(cuCtxCreate, "cuCtxCreate", 2000, 0)                                         \
  X(cuCtxCreate_v2, "cuCtxCreate", 3020, 0)                                      \
  X(cuCtxCreate_v3, "cuCtxCreate", 11040, 0)                                     \
  X(cuCtxCreate_v4, "cuCtxCreate", 12050, 0)                                     \
  X(cuCtxDestroy, "cuCtxDestroy", 2000, 0)                                       \
  X(cuCtxDestroy_v2, "cuCtxDestroy", 4000, 0)                                    \
  X(cuCtxDetach, "cuCtxDetach", 2000, 0)                                         \
  X(cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess", 4000, 0)                     \
  X(cuCtxFromGreenCtx, "cuCtxFromGreenCtx", 12040, 0)                            \
  X(cuDestroyExternalMemory, "cuDestroyExternalMemory", 10000, 0)                \
  X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease", 7000, 0)             \
  X(cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease", 11000, 0)         \
  X(cuDevicePrimaryCtxReset, "cuDevicePrimaryCtxReset", 7000, 0)                 \
  X(cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset", 11000, 0)             \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", 7000, 0)               \
  X(cuGetExportTable, "cuGetExportTable", 3000, 0)                               \
  X(cuGetProcAddress, "cuGetProcAddress", 11030, 0)                              \
  X(cuGetProcAddress_v2, "cuGetProcAddress", 12000, 0)                           \
  X(cuGraphAddMemAllocNode, "cuGraphAddMemAllocNode", 11040, 0)                  \
  X(cuGraphAddMemFreeNode, "cuGraphAddMemFreeNode", 11040, 0)                    \
  X(cuGraphAddNode, "cuGraphAddNode", 12020, 0)                                  \
  X(cuGraphAddNode_v2, "cuGraphAddNode", 12030, 0)                               \
  X(cuGraphInstantiate, "cuGraphInstantiate", 10000, 0)                          \
  X(cuGraphInstantiate_v2, "cuGraphInstantiate", 11000, 0)                       \
  X(cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", 11040, 0)        \
  X(cuGraphInstantiateWithParams, "cuGraphInstantiateWithParams", 12000, 0)      \
  X(cuGraphInstantiateWithParams_ptsz, "cuGraphInstantiateWithParams", 12000, 2) \
  X(cuGraphLaunch, "cuGraphLaunch", 10000, 0)                                    \
  X(cuGraphLaunch_ptsz, "cuGraphLaunch", 10000, 2)                               \
  X(cuGraphUpload, "cuGraphUpload", 11010, 0)                                    \
  X(cuGraphUpload_ptsz, "cuGraphUpload", 11010, 2)                               \
  X(cuGreenCtxCreate, "cuGreenCtxCreate", 12040, 0)                              \
  X(cuGreenCtxDestroy, "cuGreenCtxDestroy", 12040, 0)                            \
  X(cuImportExternalMemory, "cuImportExternalMemory", 10000, 0)                  \
  X(cuIpcCloseMemHandle, "cuIpcCloseMemHandle", 4010, 0)                         \
  X(cuIpcGetMemHandle, "cuIpcGetMemHandle", 4010, 0)                             \
  X(cuIpcOpenMemHandle, "cuIpcOpenMemHandle", 4010, 0)                           \
  X(cuIpcOpenMemHandle_v2, "cuIpcOpenMemHandle", 11000, 0)                       \
  X(cuMemAlloc_v2, "cuMemAlloc", 3020, 0)                                        \
  X(cuMemAllocAsync, "cuMemAllocAsync", 11020, 0)                                \
  X(cuMemAllocAsync_ptsz, "cuMemAllocAsync", 11020, 2)                           \
  X(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", 11020, 0)                \
  X(cuMemAllocFromPoolAsync_ptsz, "cuMemAllocFromPoolAsync", 11020, 2)           \
  X(cuMemAllocHost_v2, "cuMemAllocHost", 3020, 0)                                \
  X(cuMemAllocManaged, "cuMemAllocManaged", 6000, 0)                             \
  X(cuMemAllocPitch_v2, "cuMemAllocPitch", 3020, 0)                              \
  X(cuMemCreate, "cuMemCreate", 10020, 0)                                        \
  X(cuMemFree_v2, "cuMemFree", 3020, 0)                                          \
  X(cuMemFreeAsync, "cuMemFreeAsync", 11020, 0)                                  \
  X(cuMemFreeAsync_ptsz, "cuMemFreeAsync", 11020, 2)                             \
  X(cuMemFreeHost, "cuMemFreeHost", 2000, 0)                                     \
  X(cuMemGetHandleForAddressRange, "cuMemGetHandleForAddressRange", 11070, 0)    \
  X(cuMemGetInfo_v2, "cuMemGetInfo", 3020, 0)                                    \
  X(cuMemHostAlloc, "cuMemHostAlloc", 2020, 0)                                   \
  X(cuMemHostRegister, "cuMemHostRegister", 4000, 0)                             \
  X(cuMemHostRegister_v2, "cuMemHostRegister", 6050, 0)                          \
  X(cuMemHostUnregister, "cuMemHostUnregister", 4000, 0)                         \
  X(cuMemImportFromShareableHandle, "cuMemImportFromShareableHandle", 10020, 0)  \
  X(cuMemMap, "cuMemMap", 10020, 0)                                              \
  X(cuMemMapArrayAsync, "cuMemMapArrayAsync", 11010, 0)                          \
  X(cuMemMapArrayAsync_ptsz, "cuMemMapArrayAsync", 11010, 2)                     \
  X(cuMemPoolImportPointer, "cuMemPoolImportPointer", 11020, 0)                  \
  X(cuMemRelease, "cuMemRelease", 10020, 0)                                      \
  X(cuMemRetainAllocationHandle, "cuMemRetainAllocationHandle", 11000, 0)        \
  X(cuMemUnmap, "cuMemUnmap", 10020, 0)                                          \
  X(cuMipmappedArrayCreate, "cuMipmappedArrayCreate", 5000, 0)                   \
  X(cuMipmappedArrayDestroy, "cuMipmappedArrayDestroy", 5000, 0)                 \
  X(cuMulticastCreate, "cuMulticastCreate", 12010, 0)                            \
  X(cuPointerGetAttribute, "cuPointerGetAttribute", 4000, 0)                     \
  X(cuPointerGetAttributes, "cuPointerGetAttributes", 7000, 0)                   \
  X(cuPointerSetAttribute, "cuPointerSetAttribute", 6000, 0)                     \
  X(cuStreamBeginCapture, "cuStreamBeginCapture", 10000, 0)                      \
  X(cuStreamBeginCapture_ptsz, "cuStreamBeginCapture", 10000, 2)                 \
  X(cuStreamBeginCapture_v2, "cuStreamBeginCapture", 10010, 0)                   \
  X(cuStreamBeginCapture_v2_ptsz, "cuStreamBeginCapture", 10010, 2)              \
  X(cuStreamBeginCaptureToGraph, "cuStreamBeginCaptureToGraph", 12030, 0)        \
  X(cuStreamBeginCaptureToGraph_ptsz, "cuStreamBeginCaptureToGraph", 12030, 2)   \
  X(cuStreamDestroy, "cuStreamDestroy", 2000, 0)                                 \
  X(cuStreamDestroy_v2, "cuStreamDestroy", 4000, 0)                              \
  X(cuStreamEndCapture, "cuStreamEndCapture", 10000, 0)                          \
  X(cuStreamEndCapture_ptsz, "cuStreamEndCapture", 10000, 2)

// Only called by us.
#define TIDEMARK_CUDA_DRIVER_HELPERS(X) \
  X(cuCtxGetApiVersion)                 \
  X(cuCtxGetCurrent)                    \
  X(cuCtxGetDevice)                     \
  X(cuCtxGetId)                         \
  X(cuCtxPopCurrent_v2)                 \
  X(cuCtxPushCurrent_v2)                \
  X(cuCtxRecordEvent)                   \
  X(cuCtxSynchronize)                   \
  X(cuDeviceGetName)                    \
  X(cuDeviceGetPCIBusId)                \
  X(cuDeviceGetUuid)                    \
  X(cuDeviceGetUuid_v2)                 \
  X(cuDevicePrimaryCtxGetState)         \
  X(cuDeviceTotalMem_v2)                \
  X(cuEventCreate)                      \
  X(cuEventDestroy_v2)                  \
  X(cuEventQuery)                       \
  X(cuMemsetD8Async)                    \
  X(cuStreamCreate)                     \
  X(cuStreamIsCapturing)                \
  X(cuStreamSynchronize)                \
  X(cuThreadExchangeStreamCaptureMode)

inline constinit hook::DriverLibrary<CUresult> cuda_library{"libcuda.so", CUDA_ERROR_NOT_INITIALIZED};

struct RealCuda {
#define X(name, base, version, flags) hook::RealSymbolOf<decltype(&::name)> name{#name, cuda_library};
  TIDEMARK_CUDA_DRIVER_HOOKS(X)
#undef X
#define X(name) hook::RealSymbolOf<decltype(&::name)> name{#name, cuda_library};
  TIDEMARK_CUDA_DRIVER_HELPERS(X)
#undef X
};

inline constinit RealCuda real_cuda_functions;

inline const RealCuda& real_cuda() noexcept { return real_cuda_functions; }

}  // namespace tidemark::backend
