// The file that an object was loaded from, as far as it is still there: by its path as the process saw it, and only if
// it is the same file. A build-id tells; what was installed anew meanwhile has another.
#pragma once

#include <string>
#include <vector>

#include "viewer/symbols/module_map.hpp"

namespace tidemark::viewer {

struct FilePlaces {
  int pid = 0;  // of the process if it still runs: its files may be others than ours (containers). 0: gone
  // Where separate debug information is kept, besides the file's own directory.
  std::vector<std::string> debug_directories = {"/usr/lib/debug"};
};

struct ModuleFile {
  std::string path;  // to open; empty: none
  std::string note;  // why there is none; "" otherwise
};

[[nodiscard]] ModuleFile find_module_file(const LoadedModule& module, const FilePlaces& places);

// Hexadecimal; empty: no ELF file, or it has none.
[[nodiscard]] std::string build_id_of(const std::string& file);

}  // namespace tidemark::viewer
