// A driver that answers nothing but the resolver, and prints what it is asked: name, version, flags, and at which door.
// For comparing what runtimes ask.
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace {

constexpr int kSuccess = 0;
constexpr int kNoDevice = 100;

using Flags = std::uint64_t;

int answer(const char* door, const char* name, void** function, int version, Flags flags, int* status);

int refuse() { return kNoDevice; }

int tell_version(int* version) {
  *version = 13000;
  return kSuccess;
}

int by_first_abi(const char* name, void** function, int version, Flags flags) {
  return answer("v1", name, function, version, flags, nullptr);
}

int by_second_abi(const char* name, void** function, int version, Flags flags, int* status) {
  return answer("v2", name, function, version, flags, status);
}

template <class Function>
void put(void** out, Function* function) {
  std::memcpy(out, &function, sizeof function);
}

int answer(const char* door, const char* name, void** function, int version, Flags flags, int* status) {
  std::printf("%s %s@%d/%d\n", door, name, version, static_cast<int>(flags));
  if (status) *status = 0;
  *function = nullptr;
  if (std::strcmp(name, "cuGetProcAddress") == 0) {
    version < 12000 ? put(function, by_first_abi) : put(function, by_second_abi);
  } else if (std::strcmp(name, "cuDriverGetVersion") == 0) {
    put(function, tell_version);
  } else if (*name != '\0') {
    put(function, refuse);
  } else if (status) {
    *status = 1;
  }
  return kSuccess;
}

}  // namespace

// The only symbol: whoever wants more has to ask.
extern "C" __attribute__((visibility("default"))) int cuGetProcAddress_v2(const char* name, void** function,
                                                                          int version, Flags flags, int* status) {
  return answer("exported", name, function, version, flags, status);
}
