// Writing what the library has to say, so that the program never waits for it and never ends of it.
#pragma once

#include <cstddef>
#include <string_view>

namespace tidemark::runtime {

// In one write to stderr (`path` null), or to the end of that file, which is made for the owner alone and never
// followed through a link. What would have to wait, has no reader or is over the file-size limit is not written. Leaves
// the program's signals as they are. 0, or why not (errno). Threads: any.
int write_own(const char* path, std::string_view text) noexcept;

}  // namespace tidemark::runtime
