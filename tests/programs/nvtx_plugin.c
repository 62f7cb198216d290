/* A library with ranges, to be unloaded: its NVTX is its own, and goes with it. */
#include <nvtx3/nvToolsExt.h>

void plugin_push(void);
void plugin_pop(void);

void plugin_push(void) { nvtxRangePushA("plugin"); }
void plugin_pop(void) { nvtxRangePop(); }
