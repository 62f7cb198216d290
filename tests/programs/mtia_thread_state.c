/* What the loader and the C library keep for a thread is as the program left it: its errno, and what dlerror() has yet
 * to say. A program may look at both after other calls. */
#include <dlfcn.h>
#include <errno.h>

#include "tests/programs/mtia_say.h"

static void* first;
static void* second;

static void fail_to_load(void) { dlopen("libthere_is_no_such.so", RTLD_NOW); }

static void look(const char* after) {
  int seen = errno;
  const char* said = dlerror();
  printf("after %s: errno %d, dlerror %s\n", after, seen, said == NULL ? "has nothing" : said);
  fail_to_load();
  errno = 77;
}

int main(void) {
  int device = 0;
  size_t free_bytes = 0;
  size_t total = 0;
  mtiaSetDevice(0); /* what the driver does at its own start is not the question */
  look("the start");
  mtiaMalloc(&first, 1000);
  look("the first malloc");
  mtiaMalloc(&second, 1000);
  look("a malloc");
  mtiaFree(second);
  look("a free");
  mtiaMalloc(&second, 64 << 20);
  look("a large malloc");
  mtiaMemGetInfo(&free_bytes, &total);
  look("a question");
  mtiaFree(&device);
  look("a wrong free");
  mtiaFree(second);
  mtiaFree(first);
  mtiaDeviceReset();
  look("a reset");
  return 0;
}
