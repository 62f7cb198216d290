// A library for hook_test that needs the other one.
extern "C" int tidemark_probe_one();

extern "C" __attribute__((visibility("default"))) int tidemark_probe_three() { return tidemark_probe_one() + 2; }
