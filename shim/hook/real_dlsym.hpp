// glibc's own dlsym, which our exported dlsym hides from everybody, ourselves included.
#pragma once

namespace tidemark::hook {

using DlsymFunction = void* (*)(void* handle, const char* name);

// Never null: where no dlsym can be found (no glibc we know) the answer is a function that finds nothing.
[[nodiscard]] DlsymFunction real_dlsym() noexcept;

}  // namespace tidemark::hook
