// Memory of every kind that is not cached: allocated kind by kind, held until a line comes, freed in the same order.
// Arguments: the kinds to use; none: all. What a driver doesn't support is said and left out. Before them, how the
// context of it all ends before anything is freed: `reset` or `release` of the primary one, `destroy` of one of its
// own.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kKiB = 1024, kMiB = 1024 * 1024, kGranularity = 2 * kMiB };

static CUdeviceptr pitched, managed, async_block, pool_block, mapped;
static void *pinned, *registered;
static CUarray array;
static CUmipmappedArray mipmapped;
static CUmemoryPool pool;

static CUresult get_pitch(void) {
  size_t pitch = 0;
  CUresult code = cuMemAllocPitch_v2(&pitched, &pitch, 1000, 100, 4);
  if (code == CUDA_SUCCESS) printf("row=%zu\n", pitch);
  return code;
}
static CUresult free_pitch(void) { return cuMemFree_v2(pitched); }

static CUresult get_managed(void) { return cuMemAllocManaged(&managed, 3 * kMiB, CU_MEM_ATTACH_GLOBAL); }
static CUresult free_managed(void) { return cuMemFree_v2(managed); }

static CUresult get_async(void) { return cuMemAllocAsync(&async_block, 300 * kKiB, NULL); }
static CUresult free_async(void) {
  CUresult code = cuMemFreeAsync(async_block, NULL);
  return code != CUDA_SUCCESS ? code : cuStreamSynchronize(NULL);
}

static CUresult get_pool(void) {
  CUmemPoolProps what;
  memset(&what, 0, sizeof what);
  what.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUresult code = cuMemPoolCreate(&pool, &what);
  return code != CUDA_SUCCESS ? code : cuMemAllocFromPoolAsync(&pool_block, 500 * kKiB, pool, NULL);
}
static CUresult free_pool(void) {
  CUresult code = cuMemFree_v2(pool_block);  // a pool's block may be freed in either way
  return code != CUDA_SUCCESS ? code : cuMemPoolDestroy(pool);
}

static CUresult get_vmm(void) {
  CUmemAllocationProp what;
  CUmemGenericAllocationHandle handle;
  memset(&what, 0, sizeof what);
  what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUresult code = cuMemCreate(&handle, 2 * kGranularity, &what, 0);
  if (code != CUDA_SUCCESS) return code;
  code = cuMemAddressReserve(&mapped, 2 * kGranularity, 0, 0, 0);
  if (code != CUDA_SUCCESS) return code;
  code = cuMemMap(mapped, 2 * kGranularity, 0, handle, 0);
  if (code != CUDA_SUCCESS) return code;
  return cuMemRelease(handle);  // the mapping keeps the memory
}
static CUresult free_vmm(void) {
  CUresult code = cuMemUnmap(mapped, 2 * kGranularity);
  return code != CUDA_SUCCESS ? code : cuMemAddressFree(mapped, 2 * kGranularity);
}

static CUresult get_array(void) {
  CUDA_ARRAY_DESCRIPTOR shape = {.Width = 256, .Height = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 4};
  return cuArrayCreate_v2(&array, &shape);
}
static CUresult free_array(void) { return cuArrayDestroy(array); }

static CUresult get_mipmap(void) {
  CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 64, .Height = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
  return cuMipmappedArrayCreate(&mipmapped, &shape, 3);
}
static CUresult free_mipmap(void) { return cuMipmappedArrayDestroy(mipmapped); }

static CUresult get_pinned(void) { return cuMemHostAlloc(&pinned, 64 * kKiB, CU_MEMHOSTALLOC_PORTABLE); }
static CUresult free_pinned(void) { return cuMemFreeHost(pinned); }

static CUresult get_registered(void) {
  registered = aligned_alloc(4096, 16 * kKiB);
  return registered == NULL ? CUDA_ERROR_OUT_OF_MEMORY : cuMemHostRegister_v2(registered, 16 * kKiB, 0);
}
static CUresult free_registered(void) {
  CUresult code = cuMemHostUnregister(registered);
  free(registered);
  return code;
}

static void* pinned_plainly;
static CUresult get_allochost(void) { return cuMemAllocHost_v2(&pinned_plainly, 8 * kKiB); }
static CUresult free_allochost(void) { return cuMemFreeHost(pinned_plainly); }

static CUarray cube;
static CUresult get_array3d(void) {
  CUDA_ARRAY3D_DESCRIPTOR shape = {
      .Width = 32, .Height = 16, .Depth = 8, .Format = CU_AD_FORMAT_HALF, .NumChannels = 2};
  return cuArray3DCreate_v2(&cube, &shape);
}
static CUresult free_array3d(void) { return cuArrayDestroy(cube); }

/* Memory of our own, exported and taken in again, as another process would. */
static CUdeviceptr import_mapped;
static CUmemGenericAllocationHandle import_retained;
static CUresult get_imported(void) {
  CUmemAllocationProp what;
  CUmemGenericAllocationHandle own;
  CUmemGenericAllocationHandle taken_in;
  int descriptor = -1;
  memset(&what, 0, sizeof what);
  what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  what.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUresult code = cuMemCreate(&own, kGranularity, &what, 0);
  if (code != CUDA_SUCCESS) return code;
  code = cuMemExportToShareableHandle(&descriptor, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  if (code != CUDA_SUCCESS) return code;
  code =
      cuMemImportFromShareableHandle(&taken_in, (void*)(uintptr_t)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  if (code != CUDA_SUCCESS) return code;
  close(descriptor);
  code = cuMemRelease(own);
  if (code != CUDA_SUCCESS) return code;
  code = cuMemAddressReserve(&import_mapped, kGranularity, 0, 0, 0);
  if (code != CUDA_SUCCESS) return code;
  code = cuMemMap(import_mapped, kGranularity, 0, taken_in, 0);
  if (code != CUDA_SUCCESS) return code;
  code = cuMemRelease(taken_in);
  if (code != CUDA_SUCCESS) return code;
  return cuMemRetainAllocationHandle(&import_retained, (void*)(uintptr_t)import_mapped);
}
static CUresult free_imported(void) {
  CUresult code = cuMemUnmap(import_mapped, kGranularity);
  if (code != CUDA_SUCCESS) return code;
  code = cuMemAddressFree(import_mapped, kGranularity);
  return code != CUDA_SUCCESS ? code : cuMemRelease(import_retained);
}

/* Physical memory of the host. */
static CUmemGenericAllocationHandle on_host;
static CUresult get_vmmhost(void) {
#if CUDA_VERSION >= 12020
  CUmemAllocationProp what;
  memset(&what, 0, sizeof what);
  what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  return cuMemCreate(&on_host, kGranularity, &what, 0);
#else
  return CUDA_ERROR_NOT_SUPPORTED;
#endif
}
static CUresult free_vmmhost(void) { return cuMemRelease(on_host); }

/* A pool of the host's memory. */
static CUmemoryPool host_pool;
static CUdeviceptr host_pool_block;
static CUresult get_poolhost(void) {
#if CUDA_VERSION >= 12020
  CUmemPoolProps what;
  memset(&what, 0, sizeof what);
  what.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  CUresult code = cuMemPoolCreate(&host_pool, &what);
  return code != CUDA_SUCCESS ? code : cuMemAllocFromPoolAsync(&host_pool_block, 700 * kKiB, host_pool, NULL);
#else
  return CUDA_ERROR_NOT_SUPPORTED;
#endif
}
static CUresult free_poolhost(void) {
  CUresult code = cuMemFreeAsync(host_pool_block, NULL);
  if (code == CUDA_SUCCESS) code = cuStreamSynchronize(NULL);
  return code != CUDA_SUCCESS ? code : cuMemPoolDestroy(host_pool);
}

static const struct {
  const char* name;
  CUresult (*get)(void);
  CUresult (*free)(void);
} kKinds[] = {
    {"pitch", get_pitch, free_pitch},
    {"managed", get_managed, free_managed},
    {"async", get_async, free_async},
    {"pool", get_pool, free_pool},
    {"vmm", get_vmm, free_vmm},
    {"array", get_array, free_array},
    {"mipmap", get_mipmap, free_mipmap},
    {"pinned", get_pinned, free_pinned},
    {"registered", get_registered, free_registered},
    {"allochost", get_allochost, free_allochost},
    {"array3d", get_array3d, free_array3d},
    {"imported", get_imported, free_imported},
    {"vmmhost", get_vmmhost, free_vmmhost},
    {"poolhost", get_poolhost, free_poolhost},
};
enum { kCount = sizeof kKinds / sizeof kKinds[0] };

static int is_wanted(int count, char** names, const char* name) {
  for (int i = 0; i < count; ++i) {
    if (strcmp(names[i], name) == 0) return 1;
  }
  return count == 0;
}

static void wait_for_a_line(const char* word) {
  puts(word);
  fflush(stdout);
  for (int c = getchar(); c != '\n' && c != EOF; c = getchar()) {
  }
}

static CUresult enter_primary(void) {
  CUcontext context = NULL;
  const CUresult code = cuDevicePrimaryCtxRetain(&context, 0);
  return code == CUDA_SUCCESS ? cuCtxSetCurrent(context) : code;
}

static CUcontext own;
static CUresult create_own(void) { return cuCtxCreate_v2(&own, 0, 0); }
static CUresult destroy_own(void) { return cuCtxDestroy_v2(own); }
static CUresult release(void) { return cuDevicePrimaryCtxRelease_v2(0); }
static CUresult reset(void) { return cuDevicePrimaryCtxReset_v2(0); }

static const struct {
  const char* name;
  CUresult (*enter)(void);
  CUresult (*end)(void);
} kEnds[] = {
    {"reset", enter_primary, reset}, {"release", enter_primary, release}, {"destroy", create_own, destroy_own}};

int main(int argc, char** argv) {
  int is_there[kCount] = {0};
  int end = -1;
  for (int i = 0; i < 3 && argc > 1; ++i) {
    if (strcmp(argv[1], kEnds[i].name) == 0) end = i;
  }
  const int first = end < 0 ? 1 : 2;
  CUresult code = cuInit(0);
  if (code == CUDA_SUCCESS) code = end < 0 ? enter_primary() : kEnds[end].enter();
  if (code != CUDA_SUCCESS) {
    printf("no device: %d\n", code);
    return 1;
  }
  for (int i = 0; i < kCount; ++i) {
    if (!is_wanted(argc - first, argv + first, kKinds[i].name)) continue;
    code = kKinds[i].get();
    is_there[i] = code == CUDA_SUCCESS;
    printf("%s: %d\n", kKinds[i].name, code);
  }
  wait_for_a_line("held");
  if (end >= 0) {
    printf("%s: %d\n", kEnds[end].name, kEnds[end].end());
    wait_for_a_line("ended");
    printf("enter: %d\n", enter_primary());
  }
  for (int i = 0; i < kCount; ++i) {
    if (is_there[i]) printf("free %s: %d\n", kKinds[i].name, kKinds[i].free());
  }
  wait_for_a_line("freed");
  return cuDevicePrimaryCtxRelease_v2(0) == CUDA_SUCCESS ? 0 : 1;
}
