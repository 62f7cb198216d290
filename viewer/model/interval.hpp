// An interval that a user ends: by Enter, by the clock, or with a program that runs meanwhile.
#pragma once

#include "viewer/exit_code.hpp"

#include "shared/segment/reader.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::viewer {

// Returns when `length` is over; without a length at a newline or the end of stdin. In both cases also at Ctrl-C (and
// its like: SIGTERM, SIGHUP), and when the process that is watched has ended. True: nothing of the latter.
bool wait_for_end(const segment::SegmentReader& watched, std::optional<std::chrono::milliseconds> length);

// Runs a program to its end, as a shell does: Ctrl-C is the program's, not ours. Its exit code, 128 + N if signal N
// ended it. Throws Failure: NoSuchProgram (127), NotExecutable (126).
[[nodiscard]] int run_program(const std::vector<std::string>& words);

}  // namespace tidemark::viewer
