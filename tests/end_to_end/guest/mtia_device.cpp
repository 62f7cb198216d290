// The guest on the MTIA driver.
#include <mtia.h>

#include "tests/end_to_end/guest/guest_device.hpp"

namespace guest {

int set_device(int device) { return mtiaSetDevice(device); }
int allocate(void** ptr, std::size_t size) { return mtiaMalloc(ptr, size); }
int release(void* ptr) { return mtiaFree(ptr); }
int memory_info(std::size_t* free_bytes, std::size_t* total_bytes) { return mtiaMemGetInfo(free_bytes, total_bytes); }
int reset_device() { return mtiaDeviceReset(); }
int synchronize() { return mtiaDeviceSynchronize(); }

int fill_later(void* ptr, unsigned char value, std::size_t size) {
  mtiaStream_t stream = nullptr;
  if (const int code = mtiaStreamCreate(&stream); code != MTIA_SUCCESS) return code;
  return mtiaMemsetAsync(ptr, value, size, stream);
}

int call_later(void (*function)(void*)) {
  mtiaStream_t stream = nullptr;
  if (const int code = mtiaStreamCreate(&stream); code != MTIA_SUCCESS) return code;
  return mtiaLaunchHostFunc(stream, function, nullptr);
}

// On a stream of its own: the default stream would wait for everybody's work, and hide a block handed out too early.
int write(void* ptr, const void* from, std::size_t size) {
  mtiaStream_t stream = nullptr;
  if (const int code = mtiaStreamCreate(&stream); code != MTIA_SUCCESS) return code;
  if (const int code = mtiaMemcpyAsync(ptr, from, size, mtiaMemcpyHostToDevice, stream); code != MTIA_SUCCESS)
    return code;
  return mtiaStreamSynchronize(stream);
}

int read(void* to, const void* ptr, std::size_t size) { return mtiaMemcpy(to, ptr, size, mtiaMemcpyDeviceToHost); }

int ipc_handle(void*) { return kNoSuchCall; }
int release_in_stream(void*) { return kNoSuchCall; }
int leave_to_card(void*, CardsWay) { return kNoSuchCall; }
int enter_green_context(int) { return kNoSuchCall; }
int end_green_context() { return kNoSuchCall; }

}  // namespace guest
