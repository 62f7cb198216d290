// What the loader has mapped, read from what it keeps in memory.
//
// dlopen, dlsym and dladdr could tell it as well, but not without a trace: they forget what the program's dlerror() has
// yet to say, and they wait for a lock that another thread holds while it runs the constructors of a library, and one
// of those may wait for this thread. Nothing here allocates or changes anything. Threads: any.
#pragma once

#include <link.h>

namespace tidemark::hook {

// The object that holds `address`; null: none. Valid for as long as the object is loaded. Takes no lock.
[[nodiscard]] const link_map* object_of(const void* address) noexcept;

// "libcuda.so.1"; "" for the program itself.
[[nodiscard]] const char* file_name_of(const link_map& object) noexcept;

// The function that `object` itself exports as `name`, in the version that an unversioned look-up gets; null: none.
[[nodiscard]] void* exported_function(const link_map& object, const char* name) noexcept;

// Was the object linked so that it stays for good (-z nodelete)?
[[nodiscard]] bool is_linked_to_stay(const link_map& object) noexcept;

// Does `object` go by `name` among the DT_NEEDED of others? By its file's name, or by its DT_SONAME.
[[nodiscard]] bool has_file_name(const link_map& object, const char* name) noexcept;
[[nodiscard]] bool has_soname(const link_map& object, const char* name) noexcept;

// The name of the n-th library that `object` asks for itself; null: it asks for fewer.
[[nodiscard]] const char* needed_by(const link_map& object, unsigned n) noexcept;

}  // namespace tidemark::hook
