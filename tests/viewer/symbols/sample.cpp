// A library whose functions and lines are known: one exported, one hidden, one inlined into it.
namespace sample {

using Callback = void (*)(void*);

int line_in_inlined = 0;
int line_in_caller = 0;

__attribute__((always_inline)) inline void inlined_into_its_caller(Callback callback, void* data) {
  line_in_inlined = __LINE__ + 1;
  callback(data);
  asm volatile("" ::: "memory");
}

__attribute__((noinline)) void caller(Callback callback, void* data) {
  asm volatile("" ::: "memory");
  line_in_caller = __LINE__ + 1;
  inlined_into_its_caller(callback, data);
  asm volatile("" ::: "memory");
}

}  // namespace sample

#define TIDEMARK_EXPORT extern "C" __attribute__((visibility("default"), noinline))

TIDEMARK_EXPORT void tidemark_sample_entry(void (*callback)(void*), void* data) {
  sample::caller(callback, data);
  asm volatile("" ::: "memory");
}

TIDEMARK_EXPORT int tidemark_sample_line(int which) {
  return which == 0 ? sample::line_in_inlined : sample::line_in_caller;
}
