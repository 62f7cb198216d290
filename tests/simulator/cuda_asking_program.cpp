// cuda_asking_program LIBRARY: makes the first call of a runtime that is given by its file.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* runtime = argc > 1 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  if (!runtime) {
    std::fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "which library?");
    return 2;
  }
  auto* count_devices = reinterpret_cast<int (*)(int*)>(dlsym(runtime, "cudaGetDeviceCount"));
  auto* last_error = reinterpret_cast<int (*)()>(dlsym(runtime, "cudaPeekAtLastError"));
  if (!count_devices || !last_error) return 2;
  int devices = -1;
  const int code = count_devices(&devices);
  std::printf("code %d, %d devices, last error %d\n", code, devices, last_error());
  std::fflush(stdout);
  count_devices(&devices);  // asks for nothing more
  std::printf("end\n");
  return 0;
}
