/* Every device by itself: its properties, its own memory, copies from one to the next. */
#include <string.h>

#include "tests/programs/mtia_say.h"

int main(void) {
  int count = 0;
  void* blocks[8] = {0};
  say("count", mtiaGetDeviceCount(&count));
  printf("%d devices\n", count);
  if (count > 8) count = 8;
  for (int device = 0; device < count; ++device) {
    mtiaDeviceProp prop;
    const size_t size = (size_t)(device + 1) << 20;
    say("properties", mtiaGetDeviceProperties(&prop, device));
    printf("device %d: %s, %s, uuid ends in %d\n", device, prop.name,
           strstr(prop.name, "simulated") != NULL ? "not real" : "real", prop.uuid[15]);
    say("set device", mtiaSetDevice(device));
    say_of("malloc", size, mtiaMalloc(&blocks[device], size));
    say("memset", mtiaMemset(blocks[device], device + 1, size));
  }
  for (int device = count - 1; device > 0; --device) {
    unsigned char byte = 0;
    say("from device to device", mtiaMemcpy(blocks[device], blocks[device - 1], 4096, mtiaMemcpyDefault));
    say("read", mtiaMemcpy(&byte, (char*)blocks[device] + 4095, 1, mtiaMemcpyDeviceToHost));
    printf("device %d has %d from the one before\n", device, byte);
  }
  /* All from the last device: a free finds the device by the pointer. */
  for (int device = 0; device < count; ++device) say("free", mtiaFree(blocks[device]));
  return 0;
}
