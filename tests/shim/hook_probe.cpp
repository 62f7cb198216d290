// A library for hook_test to find functions in.
extern "C" __attribute__((visibility("default"))) int tidemark_probe_one() { return 1; }
extern "C" __attribute__((visibility("default"))) int tidemark_probe_two() { return 2; }
