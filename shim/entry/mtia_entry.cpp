// The MTIA driver's functions that we stand in front of.
#include "shim/entry/mtia_entry.hpp"

#include <cstring>

#include "shim/backend/mtia_symbols.hpp"
#include "shim/entry/export.hpp"
#include "shim/entry/intercept.hpp"
#include "shim/entry/mtia_uses.hpp"
#include "shim/runtime/call_counts.hpp"
#include "shim/runtime/mtia_calls.hpp"

using tidemark::backend::real_mtia;
using tidemark::entry::intercept;
using tidemark::entry::Starts;
using tidemark::runtime::MtiaCalls;
using tidemark::runtime::Runtime;

namespace uses = tidemark::entry::uses;

extern "C" {

TIDEMARK_EXPORT mtiaResult_t mtiaMalloc(void** ptr, size_t size) {
  uses::mtiaMalloc.entered();
  return intercept<Starts::Yes>([&](Runtime& runtime) { return MtiaCalls{runtime}.allocate(ptr, size); },
                                [&] { return real_mtia().mtiaMalloc(ptr, size); });
}

TIDEMARK_EXPORT mtiaResult_t mtiaFree(void* ptr) {
  uses::mtiaFree.entered();
  return intercept([&](Runtime& runtime) { return MtiaCalls{runtime}.release(ptr); },
                   [&] { return real_mtia().mtiaFree(ptr); });
}

TIDEMARK_EXPORT mtiaResult_t mtiaMemGetInfo(size_t* free, size_t* total) {
  uses::mtiaMemGetInfo.entered();
  return intercept([&](Runtime& runtime) { return MtiaCalls{runtime}.memory_info(free, total); },
                   [&] { return real_mtia().mtiaMemGetInfo(free, total); });
}

TIDEMARK_EXPORT mtiaResult_t mtiaDeviceReset(void) {
  uses::mtiaDeviceReset.entered();
  return intercept([&](Runtime& runtime) { return MtiaCalls{runtime}.reset_device(); },
                   [&] { return real_mtia().mtiaDeviceReset(); });
}

TIDEMARK_EXPORT mtiaResult_t mtiaGetProcAddress(const char* name, int version, void** fn) {
  uses::mtiaGetProcAddress.entered();
  const mtiaResult_t code = real_mtia().mtiaGetProcAddress(name, version, fn);
  if (code == MTIA_SUCCESS && name != nullptr && fn != nullptr && *fn != nullptr &&
      tidemark::runtime::build_runtime() != nullptr) {
    const tidemark::hook::KeptErrno kept_errno;
    *fn = tidemark::entry::answer_mtia_look_up(name, *fn);
  }
  return code;
}

}  // extern "C"

namespace tidemark::entry {
namespace {

enum class Hook : std::size_t {
#define X(function) function,
  TIDEMARK_MTIA_HOOKS(X)
#undef X
};

// Code instead of a table: a table of converted addresses could need a constructor, and dlsym is asked before any runs.
void* learn_and_answer(Hook which, void* real) noexcept {
  switch (which) {
#define X(function)                   \
  case Hook::function:                \
    real_mtia().function.learn(real); \
    return reinterpret_cast<void*>(&::function);
    TIDEMARK_MTIA_HOOKS(X)
#undef X
  }
  return real;
}

}  // namespace

void* answer_mtia(std::size_t index, void* real) noexcept {
  // A second copy of the driver (dlmopen, another file) is not the one whose memory we have: left alone.
  if (!hook::is_in_library(real, backend::mtia_library.file_prefix) ||
      !hook::are_in_one_object(real, backend::mtia_library.anchor.function())) {
    return real;
  }
  runtime::call_counts.swapped.fetch_add(1, std::memory_order_relaxed);
  return learn_and_answer(static_cast<Hook>(index), real);
}

void* answer_mtia_look_up(const char* name, void* real) noexcept {
  runtime::call_counts.resolver.fetch_add(1, std::memory_order_relaxed);
#define X(function)                                                             \
  if (std::strcmp(name, #function) == 0) {                                      \
    void* answer = answer_mtia(static_cast<std::size_t>(Hook::function), real); \
    if (answer != real) {                                                       \
      uses::function.note(hook::SymbolUses::kResolved);                         \
    }                                                                           \
    return answer;                                                              \
  }
  TIDEMARK_MTIA_HOOKS(X)
#undef X
  return real;
}

}  // namespace tidemark::entry
