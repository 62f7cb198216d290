/* Reads questions to the driver's resolver, "NAME VERSION FLAGS" a line, and says who answers each: the code, the file
 * and the name of the function that was given. Without input: three questions of its
 * own, and the codes alone. */
#define _GNU_SOURCE
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void ask(const char* name, int version, unsigned long long flags, int tells_who) {
  void* function = NULL;
  Dl_info place;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult code = cuGetProcAddress_v2(name, &function, version, flags, &status);
  memset(&place, 0, sizeof place);
  if (function != NULL) dladdr(function, &place);
  printf("%s@%d/%llu: %d %d", name, version, flags, code, (int)status);
  if (tells_who) {
    printf(" %s %s", place.dli_fname == NULL ? "-" : strrchr(place.dli_fname, '/') + 1,
           place.dli_sname == NULL ? "-" : place.dli_sname);
  }
  putchar('\n');
}

int main(void) {
  char line[256];
  int count = 0;
  while (fgets(line, sizeof line, stdin) != NULL) {
    char name[128];
    int version = 0;
    unsigned long long flags = 0;
    if (sscanf(line, "%127s %d %llu", name, &version, &flags) == 3) {
      ask(name, version, flags, 1);
      ++count;
    }
  }
  if (count == 0) {
    ask("cuMemAlloc", 2000, 0, 0);
    ask("cuMemAlloc", 13000, 0, 0);
    ask("cuNoSuchFunction", 13000, 0, 0);
  }
  return 0;
}
