/* What cuda_plugin.so offers to the program that opens it. */
#ifndef CUDA_PLUGIN_H
#define CUDA_PLUGIN_H

#include <stddef.h>

int plugin_allocate(void** block, size_t size);
int plugin_release(void* block);

#endif
