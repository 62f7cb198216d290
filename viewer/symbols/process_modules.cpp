#include "viewer/symbols/process_modules.hpp"

#include <gelf.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>

#include "viewer/symbols/elf_file.hpp"

namespace tidemark::viewer {
namespace {

struct MappedCode {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;
  std::string path;
};

// A line of /proc/PID/maps; nullopt: no code of a file.
std::optional<MappedCode> code_of(const std::string& line) {
  MappedCode code;
  char flags[5] = {};
  int path = 0;
  if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &code.begin, &code.end, flags,
                  &code.offset, &path) != 4 ||
      flags[2] != 'x' || path == 0 || line[static_cast<std::size_t>(path)] != '/') {
    return std::nullopt;
  }
  code.path = line.substr(static_cast<std::size_t>(path));
  return code;
}

// What was added to the file's addresses to come to where this part of it is; nullopt: it is no such file.
std::optional<std::uint64_t> base_of(const std::string& file, const MappedCode& code) {
  const ElfFile opened{file};
  std::size_t segments = 0;
  if (!opened.ok() || elf_getphdrnum(opened.elf(), &segments) != 0) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < segments; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(opened.elf(), static_cast<int>(i), &segment) != nullptr && segment.p_type == PT_LOAD &&
        (segment.p_flags & PF_X) != 0 && code.offset <= segment.p_offset &&
        segment.p_offset - code.offset < code.end - code.begin) {
      return code.begin + (segment.p_offset - code.offset) - segment.p_vaddr;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<LoadedModule> process_modules(int pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  std::vector<LoadedModule> modules;
  std::ifstream maps{directory + "/maps"};
  for (std::string line; std::getline(maps, line);) {
    const std::optional<MappedCode> code = code_of(line);
    if (!code) {
      continue;
    }
    if (const auto base = base_of(directory + "/root" + code->path, *code)) {
      modules.push_back({.base = *base,
                         .begin = code->begin,
                         .end = code->end,
                         .build_id = {},
                         .path = code->path,
                         .listed_ns = 0,
                         .gone_ns = 0});
    }
  }
  return modules;
}

}  // namespace tidemark::viewer
