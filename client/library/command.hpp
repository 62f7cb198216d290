// Runs the command `tidemark`: what looks up the names of functions belongs in a process of its own.
#pragma once

#include <string>
#include <vector>

namespace tidemark::client {

// With these arguments, without LD_PRELOAD. Failure(NO_COMMAND): it was not found; what it said on stderr if it failed.
void run_tidemark(const std::vector<std::string>& arguments);

}  // namespace tidemark::client
