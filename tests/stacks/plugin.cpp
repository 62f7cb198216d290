// A library to load and unload; with a constructor that asks for a walk while the loader is at work.
extern "C" __attribute__((weak)) void tidemark_test_at_load();

namespace {

__attribute__((constructor)) void at_load() {
  if (&tidemark_test_at_load != nullptr) {
    tidemark_test_at_load();
  }
}

}  // namespace
