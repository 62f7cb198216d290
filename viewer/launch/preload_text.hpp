// The two lists the loader reads: LD_PRELOAD and LD_LIBRARY_PATH, with ours put in and everything else kept. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tidemark::viewer {

// `existing` is LD_PRELOAD as it is (parts between blanks and colons), `ours` the path of libtidemark.so, which holds
// neither. Ours comes first but for sanitizer runtimes, which refuse to start anywhere else; a libtidemark.so that is
// already there goes. `first` names sanitizer runtimes that the program itself needs and that therefore have to be
// preloaded as well.
[[nodiscard]] std::string compose_preload(std::string_view existing, std::string_view ours,
                                          std::span<const std::string> first = {});

// "dir:existing", with `directory` taken out of `existing`. An empty part means the current directory and stays.
[[nodiscard]] std::string compose_library_path(std::string_view existing, std::string_view directory);

// Is `name` (a path or a soname) a sanitizer's runtime?
[[nodiscard]] bool is_sanitizer_runtime(std::string_view name);

// Can the loader read this path from LD_PRELOAD? It splits at blanks and colons and expands "$ORIGIN" and the like.
[[nodiscard]] bool fits_in_preload(std::string_view path);

}  // namespace tidemark::viewer
