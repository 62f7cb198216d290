/* What the loader and the C library keep for a thread is as the program left it: its errno, and what dlerror() has yet
 * to say. A program may look at both after other calls. On the driver: the runtime itself asks the loader. */
#include <cuda.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

static CUdeviceptr first;
static CUdeviceptr second;

static void fail_to_load(void) { dlopen("libthere_is_no_such.so", RTLD_NOW); }

static void look(const char* after) {
  int seen = errno;
  const char* said = dlerror();
  printf("after %s: errno %d, dlerror %s\n", after, seen, said == NULL ? "has nothing" : said);
  fail_to_load();
  errno = 77;
}

int main(void) {
  CUcontext context = NULL;
  size_t free_bytes = 0;
  size_t total = 0;
  void* function = NULL;
  cuInit(0);
  look("the start");
  cuDevicePrimaryCtxRetain(&context, 0);
  look("a retained context");
  cuCtxSetCurrent(context);
  look("a current context");
  cuGetProcAddress("cuMemAlloc", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, NULL);
  look("a look-up");
  cuMemAlloc(&first, 1000);
  look("the first allocation");
  cuMemAlloc(&second, 1000);
  look("an allocation");
  cuMemFree(second);
  look("a free");
  cuMemAlloc(&second, 64 << 20);
  look("a large allocation");
  cuMemGetInfo(&free_bytes, &total);
  look("a question");
  cuMemFree(first + 1);
  look("a wrong free");
  cuMemFree(second);
  cuMemFree(first);
  look("the last free");
  cuDevicePrimaryCtxReset(0);
  look("a reset");
  return 0;
}
