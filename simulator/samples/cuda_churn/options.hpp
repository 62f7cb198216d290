// What the command line says.
#pragma once

#include <optional>

namespace churn {

struct Options {
  double seconds = 20;             // whole rounds, at least one
  std::optional<long> iterations;  // a thread, instead of a time
  int threads = 1;
};

// Nothing: what is wrong, or the help that was asked for, has been printed, and the program is to end with `exit_code`.
std::optional<Options> parse(int argc, char** argv, int& exit_code);

}  // namespace churn
