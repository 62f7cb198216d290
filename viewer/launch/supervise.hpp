// Runs a program as a child, so that something can be said after its end, and stays out of its way: signals and the
// program's end pass through as if nothing stood between.
#pragma once

#include "viewer/launch/program_start.hpp"

#include <functional>

namespace tidemark::viewer {

struct ProgramEnd {
  int exit_code = 0;
  int signal = 0;  // that ended it; 0: it exited
};

// Returns when the program has ended. Ctrl-C and Ctrl-\ are the program's alone: the terminal sends them to both of us.
// TERM, HUP, USR1, USR2 and CONT are handed on. `look` is called once a second meanwhile.
// Throws the Failure of failure_to_start; a std::system_error where the machine has no process left.
[[nodiscard]] ProgramEnd supervise(const ProgramStart& start, const std::function<void()>& look);

// Ends this process by the signal that ended the program, without a second core.
[[noreturn]] void die_by(int signal);

}  // namespace tidemark::viewer
