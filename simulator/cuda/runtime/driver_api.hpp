// The driver as the runtime sees it: a pointer for each function it uses, asked for by the base name and the version
// that NVIDIA's own runtime asks for (so old ABIs such as cuDevicePrimaryCtxReset of 7.0 are met here, too). All
// pointers are found at the first runtime call that needs the driver, never later. Any thread may call.
#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

namespace cuda_sim {

// Advice names places by a device's number before CUDA 13, and since then by what a place is.
#if CUDA_VERSION >= 13000
#define CUDA_SIM_ADVICE_FUNCTIONS(X) X(mem_advise, cuMemAdvise, 12020)
#define CUDA_SIM_PREFETCH_FUNCTIONS(X) X(mem_prefetch, cuMemPrefetchAsync, 12020, 12020_ptsz)
#else
#define CUDA_SIM_ADVICE_FUNCTIONS(X) X(mem_advise, cuMemAdvise, 8000)
#define CUDA_SIM_PREFETCH_FUNCTIONS(X) X(mem_prefetch, cuMemPrefetchAsync, 8000, 8000_ptsz)
#endif

// X(member, base name, version)
#define CUDA_SIM_DRIVER_FUNCTIONS(X)                                                         \
  CUDA_SIM_ADVICE_FUNCTIONS(X)                                                               \
  X(mem_range_get_attribute, cuMemRangeGetAttribute, 8000)                                   \
  X(init, cuInit, 2000)                                                                      \
  X(driver_get_version, cuDriverGetVersion, 2020)                                            \
  X(get_proc_address, cuGetProcAddress, 12000)                                               \
  X(device_get, cuDeviceGet, 2000)                                                           \
  X(device_get_count, cuDeviceGetCount, 2000)                                                \
  X(device_get_name, cuDeviceGetName, 2000)                                                  \
  X(device_total_mem, cuDeviceTotalMem, 3020)                                                \
  X(device_get_attribute, cuDeviceGetAttribute, 2000)                                        \
  X(device_get_uuid, cuDeviceGetUuid, 9020)                                                  \
  X(device_get_by_pci_bus_id, cuDeviceGetByPCIBusId, 4010)                                   \
  X(device_get_pci_bus_id, cuDeviceGetPCIBusId, 4010)                                        \
  X(device_can_access_peer, cuDeviceCanAccessPeer, 4000)                                     \
  X(device_get_p2p_attribute, cuDeviceGetP2PAttribute, 8000)                                 \
  X(device_get_default_mem_pool, cuDeviceGetDefaultMemPool, 11020)                           \
  X(device_get_mem_pool, cuDeviceGetMemPool, 11020)                                          \
  X(device_set_mem_pool, cuDeviceSetMemPool, 11020)                                          \
  X(primary_ctx_retain, cuDevicePrimaryCtxRetain, 7000)                                      \
  X(primary_ctx_get_state, cuDevicePrimaryCtxGetState, 7000)                                 \
  X(primary_ctx_set_flags, cuDevicePrimaryCtxSetFlags, 11000)                                \
  X(ctx_get_current, cuCtxGetCurrent, 4000)                                                  \
  X(ctx_set_current, cuCtxSetCurrent, 4000)                                                  \
  X(ctx_get_device, cuCtxGetDevice, 2000)                                                    \
  X(ctx_synchronize, cuCtxSynchronize, 2000)                                                 \
  X(ctx_get_limit, cuCtxGetLimit, 3010)                                                      \
  X(ctx_set_limit, cuCtxSetLimit, 3010)                                                      \
  X(ctx_get_stream_priority_range, cuCtxGetStreamPriorityRange, 5050)                        \
  X(ctx_enable_peer_access, cuCtxEnablePeerAccess, 4000)                                     \
  X(ctx_disable_peer_access, cuCtxDisablePeerAccess, 4000)                                   \
  X(mem_alloc, cuMemAlloc, 3020)                                                             \
  X(mem_free, cuMemFree, 3020)                                                               \
  X(mem_alloc_pitch, cuMemAllocPitch, 3020)                                                  \
  X(mem_alloc_managed, cuMemAllocManaged, 6000)                                              \
  X(mem_get_info, cuMemGetInfo, 3020)                                                        \
  X(array_3d_create, cuArray3DCreate, 3020)                                                  \
  X(array_3d_get_descriptor, cuArray3DGetDescriptor, 3020)                                   \
  X(array_destroy, cuArrayDestroy, 2000)                                                     \
  X(mipmapped_array_create, cuMipmappedArrayCreate, 5000)                                    \
  X(mipmapped_array_get_level, cuMipmappedArrayGetLevel, 5000)                               \
  X(mipmapped_array_destroy, cuMipmappedArrayDestroy, 5000)                                  \
  X(mem_host_alloc, cuMemHostAlloc, 2020)                                                    \
  X(mem_free_host, cuMemFreeHost, 2000)                                                      \
  X(mem_host_register, cuMemHostRegister, 6050)                                              \
  X(mem_host_unregister, cuMemHostUnregister, 4000)                                          \
  X(mem_host_get_device_pointer, cuMemHostGetDevicePointer, 3020)                            \
  X(mem_host_get_flags, cuMemHostGetFlags, 2030)                                             \
  X(pointer_get_attributes, cuPointerGetAttributes, 7000)                                    \
  X(ipc_get_mem_handle, cuIpcGetMemHandle, 4010)                                             \
  X(ipc_open_mem_handle, cuIpcOpenMemHandle, 11000)                                          \
  X(ipc_close_mem_handle, cuIpcCloseMemHandle, 4010)                                         \
  X(mem_pool_trim_to, cuMemPoolTrimTo, 11020)                                                \
  X(mem_pool_get_attribute, cuMemPoolGetAttribute, 11020)                                    \
  X(mem_pool_set_attribute, cuMemPoolSetAttribute, 11020)                                    \
  X(mem_pool_create, cuMemPoolCreate, 11020)                                                 \
  X(mem_pool_destroy, cuMemPoolDestroy, 11020)                                               \
  X(mem_pool_set_access, cuMemPoolSetAccess, 11020)                                          \
  X(import_external_memory, cuImportExternalMemory, 10000)                                   \
  X(external_memory_map, cuExternalMemoryGetMappedBuffer, 10000)                             \
  X(destroy_external_memory, cuDestroyExternalMemory, 10000)                                 \
  X(func_get_attribute, cuFuncGetAttribute, 2020)                                            \
  X(occupancy_max_active_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000) \
  X(module_load_data, cuModuleLoadData, 2000)                                                \
  X(module_get_function, cuModuleGetFunction, 2000)                                          \
  X(stream_create, cuStreamCreate, 2000)                                                     \
  X(stream_create_with_priority, cuStreamCreateWithPriority, 5050)                           \
  X(stream_destroy, cuStreamDestroy, 4000)                                                   \
  X(thread_exchange_capture_mode, cuThreadExchangeStreamCaptureMode, 10010)                  \
  X(graph_create, cuGraphCreate, 10000)                                                      \
  X(graph_destroy, cuGraphDestroy, 10000)                                                    \
  X(graph_instantiate, cuGraphInstantiateWithFlags, 11040)                                   \
  X(graph_exec_destroy, cuGraphExecDestroy, 10000)                                           \
  X(event_create, cuEventCreate, 2000)                                                       \
  X(event_destroy, cuEventDestroy, 4000)                                                     \
  X(event_query, cuEventQuery, 2000)                                                         \
  X(event_synchronize, cuEventSynchronize, 2000)                                             \
  X(event_elapsed_time, cuEventElapsedTime, 2000)

// Functions that act on the default stream when they are given none: there are two forms, for the legacy default stream
// and (resolver flag 2) for the calling thread's own. X(member, base name, version, per-thread version and suffix)
#define CUDA_SIM_STREAM_FUNCTIONS(X)                                       \
  CUDA_SIM_PREFETCH_FUNCTIONS(X)                                           \
  X(stream_attach_mem, cuStreamAttachMemAsync, 6000, 7000_ptsz)            \
  X(memcpy_any, cuMemcpy, 4000, 7000_ptds)                                 \
  X(memcpy_htod, cuMemcpyHtoD, 3020, 7000_ptds)                            \
  X(memcpy_dtoh, cuMemcpyDtoH, 3020, 7000_ptds)                            \
  X(memcpy_dtod, cuMemcpyDtoD, 3020, 7000_ptds)                            \
  X(memcpy_peer, cuMemcpyPeer, 4000, 7000_ptds)                            \
  X(memcpy_2d, cuMemcpy2DUnaligned, 3020, 7000_ptds)                       \
  X(memcpy_3d, cuMemcpy3D, 3020, 7000_ptds)                                \
  X(memset_d8, cuMemsetD8, 3020, 7000_ptds)                                \
  X(memset_d2d8, cuMemsetD2D8, 3020, 7000_ptds)                            \
  X(memcpy_any_async, cuMemcpyAsync, 4000, 7000_ptsz)                      \
  X(memcpy_htod_async, cuMemcpyHtoDAsync, 3020, 7000_ptsz)                 \
  X(memcpy_dtoh_async, cuMemcpyDtoHAsync, 3020, 7000_ptsz)                 \
  X(memcpy_dtod_async, cuMemcpyDtoDAsync, 3020, 7000_ptsz)                 \
  X(memcpy_peer_async, cuMemcpyPeerAsync, 4000, 7000_ptsz)                 \
  X(memcpy_2d_async, cuMemcpy2DAsync, 3020, 7000_ptsz)                     \
  X(memcpy_3d_async, cuMemcpy3DAsync, 3020, 7000_ptsz)                     \
  X(memset_d8_async, cuMemsetD8Async, 3020, 7000_ptsz)                     \
  X(memset_d2d8_async, cuMemsetD2D8Async, 3020, 7000_ptsz)                 \
  X(mem_alloc_async, cuMemAllocAsync, 11020, 11020_ptsz)                   \
  X(mem_alloc_from_pool_async, cuMemAllocFromPoolAsync, 11020, 11020_ptsz) \
  X(launch_kernel, cuLaunchKernel, 4000, 7000_ptsz)                        \
  X(mem_free_async, cuMemFreeAsync, 11020, 11020_ptsz)                     \
  X(launch_host_func, cuLaunchHostFunc, 10000, 10000_ptsz)                 \
  X(stream_add_callback, cuStreamAddCallback, 5000, 7000_ptsz)             \
  X(stream_synchronize, cuStreamSynchronize, 2000, 7000_ptsz)              \
  X(stream_query, cuStreamQuery, 2000, 7000_ptsz)                          \
  X(stream_wait_event, cuStreamWaitEvent, 3020, 7000_ptsz)                 \
  X(stream_get_flags, cuStreamGetFlags, 5050, 7000_ptsz)                   \
  X(stream_get_priority, cuStreamGetPriority, 5050, 7000_ptsz)             \
  X(stream_get_id, cuStreamGetId, 12000, 12000_ptsz)                       \
  X(stream_begin_capture, cuStreamBeginCapture, 10010, 10010_ptsz)         \
  X(stream_end_capture, cuStreamEndCapture, 10000, 10000_ptsz)             \
  X(stream_is_capturing, cuStreamIsCapturing, 10000, 10000_ptsz)           \
  X(graph_launch, cuGraphLaunch, 10000, 10000_ptsz)                        \
  X(event_record, cuEventRecord, 2000, 7000_ptsz)                          \
  X(event_record_with_flags, cuEventRecordWithFlags, 11010, 11010_ptsz)

struct StreamFunctions {
#define X(member, base, version, per_thread_version) PFN_##base##_v##version member = nullptr;
  CUDA_SIM_STREAM_FUNCTIONS(X)
#undef X
};

struct DriverApi {
#define X(member, base, version) PFN_##base##_v##version member = nullptr;
  CUDA_SIM_DRIVER_FUNCTIONS(X)
#undef X
  // The first ABIs: the toolkit's headers name only their successors.
  CUresult (*primary_ctx_reset)(CUdevice) = nullptr;
  CUresult (*primary_ctx_release)(CUdevice) = nullptr;
  StreamFunctions legacy;
  StreamFunctions per_thread;
};

// The driver, or NULL where there is none or only one too old for this runtime.
const DriverApi* driver_api();

// Where the resolver comes from: the installed driver (driver_library.cpp), or one built in (driver_builtin.cpp).
PFN_cuGetProcAddress_v12000 find_resolver();

// Of both enums; the driver's has had a name for it only since CUDA 13.
inline constexpr CUresult kRequiresNewerDriver = static_cast<CUresult>(36);

// `call(api.mem_alloc, ...)`: a driver that is too old for a function lacks its pointer.
template <class... Parameters, class... Arguments>
CUresult call(CUresult (*function)(Parameters...), Arguments... arguments) {
  return function ? function(arguments...) : kRequiresNewerDriver;
}

}  // namespace cuda_sim
