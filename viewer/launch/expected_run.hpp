// `run --expect`: the program runs as a child, and what all processes of the run had is compared with what was expected
// of it. Their files stay until then, and are removed afterwards as if nobody had looked.
#pragma once

#include "viewer/exit_code.hpp"
#include "viewer/launch/expectation.hpp"
#include "viewer/launch/program_start.hpp"
#include "viewer/messages.hpp"

#include <string>
#include <vector>

namespace tidemark::viewer {

struct ExpectedRun {
  ProgramStart start;
  std::vector<Expectation> expectations;
  std::vector<std::string> obstacles;  // why the program can't be tracked, as preflight found them
  std::string id;                      // of the run, TIDEMARK_RUN_ID
  std::string directory;               // of its segments
  std::string keep;                    // what TIDEMARK_KEEP is without us
};

// `start` as it would be without an expectation. Throws Failure{Usage} where the settings leave no counters to judge
// by.
[[nodiscard]] ExpectedRun prepare_expected_run(ProgramStart start, std::vector<Expectation> expectations,
                                               std::vector<std::string> obstacles, const Environment& environment);

// The program's own exit code where that isn't 0, else ExpectationFailed or Done. Doesn't return where a signal ended
// the program: it ends us, too.
[[nodiscard]] ExitCode run_expecting(const ExpectedRun& run, const Messages& messages);

}  // namespace tidemark::viewer
