// Why a program cannot be preloaded, found out before it starts: a failed preload is otherwise silent.
#pragma once

#include "viewer/launch/elf_facts.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

// Looks `name` up as a shell would. Throws Failure: NoSuchProgram (127) or NotExecutable (126).
[[nodiscard]] std::string resolve_program(const std::string& name, std::string_view path_variable);

struct Preflight {
  std::vector<std::string> reasons;     // each a sentence: why the program will run without being tracked
  std::vector<std::string> sanitizers;  // sanitizer runtimes it is linked against: they must come before ours
  std::string program;                  // the file that runs in the end: of a script its interpreter
  std::optional<ElfFacts> facts;        // of that file; none: it is no ELF file, or can't be read
  std::string missing_interpreter;      // that a script asks for and that is not there
};

// `words` is the program as typed and its arguments, `path` what resolve_program said. A file that cannot be read
// (executable only) gives no reasons.
[[nodiscard]] Preflight preflight(const std::vector<std::string>& words, const std::string& path,
                                  std::string_view path_variable);

// The interpreter line of a script: "/usr/bin/env", {"python3"}. Empty when `bytes` is no script.
[[nodiscard]] std::vector<std::string> interpreter_line(std::string_view bytes);

// What to do instead for commands that start the program elsewhere (sudo, docker, ssh, ...). Empty for all others.
[[nodiscard]] std::string explain_launcher(std::string_view program);

}  // namespace tidemark::viewer
