/* Each function ends in a call of the runtime that can be made by a jump: the runtime then returns to whoever called
 * the plug-in, whose own scope knows no runtime. */
#include "tests/programs/cuda_plugin.h"

#include <cuda_runtime_api.h>

int plugin_allocate(void** block, size_t size) { return (int)cudaMalloc(block, size); }
int plugin_release(void* block) { return (int)cudaFree(block); }
