// Finding the function that a program would have called without us. Threads: any.
#pragma once

namespace tidemark::hook {

struct LookUp {
  const char* name;              // "cudaMalloc"
  const char* library_prefix;    // file name of the library that has it, up to the version: "libcudart"
  const void* caller = nullptr;  // a return address in the object that called; null: unknown
};

// In this order (DESIGN D2): the caller's own scope; RTLD_NEXT; any loaded library whose file name starts with the
// prefix. A result inside our object or the caller's is rejected: a wrapper library calls us to reach what lies
// *behind* it. Null where nobody has it. Loads nothing, and leaves what the thread's dlerror() has to say. Costs
// microseconds: callers remember.
[[nodiscard]] void* find_real_function(const LookUp& wanted) noexcept;

// `name` in the library that holds `known` (the driver that the program itself uses), or in what that needs; null where
// it has none.
[[nodiscard]] void* find_beside(const void* known, const char* name) noexcept;

// Is the library that holds `address` there for good, whatever the program does?
[[nodiscard]] bool is_never_unloaded(const void* address) noexcept;

// The library that holds `address` is never unloaded from now on: we keep pointers into it. One that the program loaded
// with dlopen has to be asked for, and that alone makes the thread's dlerror() forget.
void keep_loaded(const void* address) noexcept;

// Do both lie in the same loaded object? A null address lies in any.
[[nodiscard]] bool are_in_one_object(const void* a, const void* b) noexcept;

// Does the file name of the object that holds `address` start with `prefix`?
[[nodiscard]] bool is_in_library(const void* address, const char* prefix) noexcept;

}  // namespace tidemark::hook
