/* The driver interface of MTIA devices.
 *
 * Every function may be called from any thread. All but the two mtiaGetError... return a mtiaResult_t, and write their
 * results only when they return MTIA_SUCCESS. The first call that needs a device initialises the driver; mtiaInit does
 * it on purpose. Each thread has its own current device, device 0 at first; functions without a device argument mean
 * that one.
 *
 * Device memory is addressed by ordinary pointers that the host can neither read nor write; use mtiaMemcpy and
 * mtiaMemset. Work in one stream runs in order, asynchronously to the caller. The default stream (NULL) waits for all
 * earlier work of the device's other streams, and they wait for all earlier work of the default stream.
 *
 * A process forked from one that used the driver starts without devices in use; its parent's pointers, streams and
 * events mean nothing there. From inside a function given to mtiaLaunchHostFunc, everything that needs a device answers
 * MTIA_ERROR_NOT_SUPPORTED.
 */
#ifndef MTIA_H
#define MTIA_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1000 * major + 10 * minor; mtiaDriverGetVersion says what the driver at hand is. */
#define MTIA_VERSION 1010

typedef enum mtiaResult_t {
  MTIA_SUCCESS = 0,
  MTIA_ERROR_INVALID_VALUE = 1,   /* an argument, or a pointer that isn't device memory in use */
  MTIA_ERROR_OUT_OF_MEMORY = 2,   /* not that much memory left on the device, or for the driver on the host */
  MTIA_ERROR_NOT_INITIALIZED = 3, /* no driver to be found */
  MTIA_ERROR_NO_DEVICE = 4,       /* the driver works, but there is no device */
  MTIA_ERROR_INVALID_DEVICE = 5,  /* no device of that number */
  MTIA_ERROR_INVALID_HANDLE = 6,  /* no such stream or event, or not any more, or of another device */
  MTIA_ERROR_NOT_READY = 7,       /* asked about, and still under way */
  MTIA_ERROR_NOT_SUPPORTED = 8,   /* this driver has no such function */
  MTIA_ERROR_DEINITIALIZED = 9,   /* the driver is shutting down */
  MTIA_ERROR_UNKNOWN = 999
} mtiaResult_t;

typedef enum mtiaMemcpyKind {
  mtiaMemcpyHostToHost = 0,
  mtiaMemcpyHostToDevice = 1,
  mtiaMemcpyDeviceToHost = 2,
  mtiaMemcpyDeviceToDevice = 3,
  mtiaMemcpyDefault = 4 /* found out from the pointers */
} mtiaMemcpyKind;

typedef struct mtiaDeviceProp {
  char name[256];
  unsigned char uuid[16];
  size_t totalGlobalMem; /* bytes */
  int major, minor;      /* of the architecture */
  int multiProcessorCount;
  char reserved[64];
} mtiaDeviceProp;

typedef struct mtiaStream_st* mtiaStream_t; /* NULL: the current device's default stream */
typedef struct mtiaEvent_st* mtiaEvent_t;

/* ---- driver and devices */

/* flags: 0. */
mtiaResult_t mtiaInit(unsigned flags);
/* Doesn't initialise. */
mtiaResult_t mtiaDriverGetVersion(int* version);
/* 0 devices: MTIA_ERROR_NO_DEVICE, and *count is 0. */
mtiaResult_t mtiaGetDeviceCount(int* count);
/* For this thread. */
mtiaResult_t mtiaSetDevice(int device);
mtiaResult_t mtiaGetDevice(int* device);
mtiaResult_t mtiaGetDeviceProperties(mtiaDeviceProp* prop, int device);
/* Waits for all work of the current device. */
mtiaResult_t mtiaDeviceSynchronize(void);
/* Waits, then frees all memory, streams and events of the current device. */
mtiaResult_t mtiaDeviceReset(void);

/* ---- memory */

/* Aligned to 512 bytes at least; contents undefined. size 0: success, and *ptr is NULL. */
mtiaResult_t mtiaMalloc(void** ptr, size_t size);
/* Waits for all work of the device that owns ptr. Only what mtiaMalloc returned, and only once:
 * MTIA_ERROR_INVALID_VALUE otherwise. NULL: success. */
mtiaResult_t mtiaFree(void* ptr);
/* Bytes of the current device. Either pointer may be NULL. */
mtiaResult_t mtiaMemGetInfo(size_t* free, size_t* total);
/* The allocation around ptr, with the size asked for. base and size may be NULL. */
mtiaResult_t mtiaMemGetAddressRange(void** base, size_t* size, void* ptr);
/* kind must agree with the pointers. Waits until the copy is done. */
mtiaResult_t mtiaMemcpy(void* dst, const void* src, size_t count, mtiaMemcpyKind kind);
/* A host source may be changed as soon as this returns; a host destination is written before it returns. */
mtiaResult_t mtiaMemcpyAsync(void* dst, const void* src, size_t count, mtiaMemcpyKind kind, mtiaStream_t stream);
/* The lowest 8 bits of value. Doesn't wait: device memory is set in the order of the default stream. */
mtiaResult_t mtiaMemset(void* ptr, int value, size_t count);
mtiaResult_t mtiaMemsetAsync(void* ptr, int value, size_t count, mtiaStream_t stream);

/* ---- streams, of the device that is current when they are made */

mtiaResult_t mtiaStreamCreate(mtiaStream_t* stream);
/* Doesn't wait; work already submitted is done all the same. */
mtiaResult_t mtiaStreamDestroy(mtiaStream_t stream);
mtiaResult_t mtiaStreamSynchronize(mtiaStream_t stream);
mtiaResult_t mtiaStreamQuery(mtiaStream_t stream);
/* Calls fn(data) on a thread of the driver when all earlier work of the stream is done; later work waits for it. */
mtiaResult_t mtiaLaunchHostFunc(mtiaStream_t stream, void (*fn)(void*), void* data);

/* ---- events, of the device that is current when they are made */

mtiaResult_t mtiaEventCreate(mtiaEvent_t* event);
/* The event stands for the stream's work up to now. */
mtiaResult_t mtiaEventRecord(mtiaEvent_t event, mtiaStream_t stream);
/* Both: success for an event that was never recorded. */
mtiaResult_t mtiaEventQuery(mtiaEvent_t event);
mtiaResult_t mtiaEventSynchronize(mtiaEvent_t event);
mtiaResult_t mtiaEventDestroy(mtiaEvent_t event);

/* ---- looking up */

/* The function of that name as it was in `version` of the driver. Needs no initialised driver. No such function then:
 * MTIA_ERROR_NOT_SUPPORTED and *fn is NULL. A version newer than the driver: MTIA_ERROR_INVALID_VALUE. */
mtiaResult_t mtiaGetProcAddress(const char* name, int version, void** fn);
/* "MTIA_ERROR_OUT_OF_MEMORY"; never NULL. */
const char* mtiaGetErrorName(mtiaResult_t error);
/* "out of memory"; never NULL. */
const char* mtiaGetErrorString(mtiaResult_t error);

#ifdef __cplusplus
}
#endif

#endif /* MTIA_H */
