/* Lists the devices, in the order in which the program sees them, with the number that each has on the bus. */
#include "tests/programs/cuda_say.h"

int main(void) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    printf("no devices: %s\n", cudaGetErrorName(code));
    return 0;
  }
  printf("%d devices:", count);
  for (int i = 0; i < count; ++i) {
    int bus = 0;
    cudaDeviceGetAttribute(&bus, cudaDevAttrPciBusId, i);
    printf(" %d", bus - 1);
  }
  printf("\n");
  for (int i = 0; i < count; ++i) {
    struct cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, i);
    printf("%s, %zu bytes, GPU-", properties.name, properties.totalGlobalMem);
    for (int byte = 0; byte < 16; ++byte) {
      printf("%s%02x", byte == 4 || byte == 6 || byte == 8 || byte == 10 ? "-" : "",
             (unsigned char)properties.uuid.bytes[byte]);
    }
    printf("\n");
  }
  return 0;
}
