#include "viewer/symbols/module_file.hpp"

#include <elfutils/libdwelf.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>

#include "viewer/symbols/elf_file.hpp"

namespace tidemark::viewer {
namespace {

// The mapping itself, which still leads to a file that was deleted. Only root may follow it.
std::string mapped_file(int pid, std::uint64_t address) {
  const std::string directory = "/proc/" + std::to_string(pid);
  std::ifstream maps{directory + "/maps"};
  for (std::string line; std::getline(maps, line);) {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64, &begin, &end) == 2 && address >= begin && address < end) {
      return directory + "/map_files/" + line.substr(0, line.find(' '));
    }
  }
  return {};
}

// A debug file by build-id is enough where the file itself is gone.
std::string debug_file(const std::string& directory, const std::string& build_id) {
  return directory + "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
}

std::vector<std::string> candidates(const LoadedModule& module, const FilePlaces& places) {
  std::vector<std::string> paths;
  if (places.pid != 0) {
    const std::string directory = "/proc/" + std::to_string(places.pid);
    paths.push_back(directory + "/root" + module.path);
    if (!module.build_id.empty()) {
      paths.push_back(directory + "/exe");
      paths.push_back(mapped_file(places.pid, module.begin));
    }
  }
  paths.push_back(module.path);
  if (module.build_id.size() > 2) {
    for (const std::string& directory : places.debug_directories) {
      paths.push_back(debug_file(directory, module.build_id));
    }
  }
  return paths;
}

}  // namespace

std::string build_id_of(const std::string& file) {
  constexpr char kDigits[] = "0123456789abcdef";
  const ElfFile opened{file};
  const void* id = nullptr;
  const ssize_t bytes = opened.ok() ? dwelf_elf_gnu_build_id(opened.elf(), &id) : 0;
  std::string text;
  for (ssize_t i = 0; i < bytes; ++i) {
    const auto byte = static_cast<const unsigned char*>(id)[i];
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

ModuleFile find_module_file(const LoadedModule& module, const FilePlaces& places) {
  if (module.path.empty() || module.path.front() != '/') {
    return {.path = {}, .note = {}};  // the kernel's own, or a name that no path was known for
  }
  bool was_replaced = false;
  for (const std::string& path : candidates(module, places)) {
    if (path.empty() || !ElfFile{path}.ok()) {
      continue;
    }
    if (module.build_id.empty() || build_id_of(path) == module.build_id) {
      return {.path = path, .note = {}};
    }
    was_replaced = was_replaced || path.ends_with(module.path);
  }
  return {.path = {},
          .note = module.path + (was_replaced ? " was replaced since it was loaded: no names from it"
                                              : " is not there any more: no names from it")};
}

}  // namespace tidemark::viewer
