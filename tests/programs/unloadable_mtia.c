/* A driver, or what a program sees of one, that can be unloaded: the simulated one has threads and stays. */
#include <mtia.h>
#include <stdint.h>
#include <string.h>

static uintptr_t next = (uintptr_t)1 << 40;

mtiaResult_t mtiaMalloc(void** ptr, size_t size) {
  if (ptr == NULL) return MTIA_ERROR_INVALID_VALUE;
  *ptr = (void*)next;
  next += (size + 511) / 512 * 512;
  return MTIA_SUCCESS;
}

mtiaResult_t mtiaFree(void* ptr) { return (uintptr_t)ptr % 512 == 0 ? MTIA_SUCCESS : MTIA_ERROR_INVALID_VALUE; }

mtiaResult_t mtiaMemGetInfo(size_t* free_bytes, size_t* total) {
  *free_bytes = *total = (size_t)1 << 30;
  return MTIA_SUCCESS;
}

mtiaResult_t mtiaGetDevice(int* device) {
  *device = 0;
  return MTIA_SUCCESS;
}

mtiaResult_t mtiaSetDevice(int device) { return device == 0 ? MTIA_SUCCESS : MTIA_ERROR_INVALID_DEVICE; }

mtiaResult_t mtiaDeviceSynchronize(void) { return MTIA_SUCCESS; }

mtiaResult_t mtiaGetDeviceProperties(mtiaDeviceProp* properties, int device) {
  memset(properties, 0, sizeof *properties);
  properties->totalGlobalMem = (size_t)1 << 30;
  return device == 0 ? MTIA_SUCCESS : MTIA_ERROR_INVALID_DEVICE;
}
