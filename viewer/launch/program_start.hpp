// Becoming the program that `run` was given: its environment, and exec.
#pragma once

#include "viewer/exit_code.hpp"
#include "viewer/launch/run_options.hpp"

#include <string>
#include <vector>

namespace tidemark::viewer {

struct ProgramStart {
  std::string path;                // as resolve_program said
  std::vector<std::string> words;  // its name as typed, and its arguments
  Settings settings;
  bool is_alone = false;  // --no-children: its own children are not tracked
};

// Gives this process the program's environment and makes it the program. Returns only where that failed: errno's value.
[[nodiscard]] int become_program(const ProgramStart& start);

// NotExecutable (126) or NoSuchProgram (127), with the reason as far as one can be found.
[[nodiscard]] Failure failure_to_start(const ProgramStart& start, int error);

}  // namespace tidemark::viewer
