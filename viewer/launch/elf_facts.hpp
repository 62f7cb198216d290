// What an executable file says about how the loader will treat it. Reads the file, trusts no byte of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

struct ElfFacts {
  bool same_machine = false;        // class, byte order and machine are those of this program
  bool has_interpreter = false;     // false: statically linked, no loader runs
  std::string interpreter;          // the loader: "/lib64/ld-linux-x86-64.so.2"
  std::vector<std::string> needed;  // sonames it is linked against; only read for the same machine
};

// `bytes` is the file's content or its beginning. nullopt: not an ELF file.
[[nodiscard]] std::optional<ElfFacts> elf_facts(std::string_view bytes);

}  // namespace tidemark::viewer
