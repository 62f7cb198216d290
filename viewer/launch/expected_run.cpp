#include "viewer/launch/expected_run.hpp"

#include "viewer/doctor/machine_findings.hpp"
#include "viewer/doctor/segment_place.hpp"
#include "viewer/launch/run_segments.hpp"
#include "viewer/launch/supervise.hpp"

#include "shared/segment/names.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace tidemark::viewer {
namespace {

constexpr std::string_view kRunId = "TIDEMARK_RUN_ID";

// A variable as the program will have it.
std::string variable_of(const ProgramStart& start, const Environment& environment, std::string_view name) {
  const auto set = std::find_if(start.settings.rbegin(), start.settings.rend(),
                                [&](const auto& setting) { return setting.first == name; });
  return set != start.settings.rend() ? set->second : environment(name).value_or("");
}

std::string fresh_id() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) {
    throw Failure(ExitCode::CannotLaunch, "run: the system has no random number for us");
  }
  return fmt::format("{:016x}", number);
}

// Why nothing is known of a run that left no segment; empty: it allocated nothing.
std::string unknown_because(const ExpectedRun& run) {
  if (!run.obstacles.empty()) {
    return run.obstacles.front();
  }
  MachineFacts facts;
  read_installation(facts);
  facts.directory = run.directory;
  facts.directory_trouble = trouble_in(run.directory, "/", geteuid());
  const Findings findings = findings_of_installation(facts);
  const auto problem = std::ranges::find(findings, Weight::Problem, &Finding::weight);
  return problem == findings.end() ? std::string{} : problem->what;
}

bool judge(const ExpectedRun& run, const std::vector<ProcessView>& processes) {
  const std::string unknown = processes.empty() ? unknown_because(run) : std::string{};
  bool is_as_expected = true;
  for (const Expectation& expected : run.expectations) {
    const std::string line = unknown.empty()
                                 ? disappointment(expected, processes)
                                 : fmt::format("run: expected {}, which nobody can tell: {}", expected.text, unknown);
    if (!line.empty()) {
      warn(line);
      is_as_expected = false;
    }
  }
  return is_as_expected;
}

void add_note_on_living(const std::vector<ProcessView>& processes, const Messages& messages) {
  if (const auto living = std::ranges::count_if(processes, &ProcessView::is_alive); living > 0) {
    messages.note(fmt::format("run: still running: {} of its processes, judged by what was so far", living));
  }
}

}  // namespace

ExpectedRun prepare_expected_run(ProgramStart start, std::vector<Expectation> expectations,
                                 std::vector<std::string> obstacles, const Environment& environment) {
  const auto refuse_where = [&](std::string_view name, std::initializer_list<std::string_view> values) {
    const std::string text = variable_of(start, environment, name);
    if (const std::string_view value = text; std::ranges::find(values, value) != values.end()) {
      throw Failure(
          ExitCode::Usage,
          fmt::format("run: --expect reads the counters after the program's end, and with {}={} there are none", name,
                      value));
    }
  };
  refuse_where("TIDEMARK_MODE", {"off"});
  refuse_where("TIDEMARK_SHM", {"off", "memfd"});

  ExpectedRun run{.start = std::move(start),
                  .expectations = std::move(expectations),
                  .obstacles = std::move(obstacles),
                  .id = fresh_id(),
                  .directory = {},
                  .keep = {}};
  run.directory = variable_of(run.start, environment, "TIDEMARK_DIR");
  if (run.directory.empty()) {
    run.directory = segment::kDefaultDirectory;
  }
  run.keep = variable_of(run.start, environment, "TIDEMARK_KEEP");
  // Inside another run that expects something, its processes are that one's as well.
  const std::string outer = variable_of(run.start, environment, kRunId);
  run.start.settings.emplace_back(kRunId, outer.empty() ? run.id : fmt::format("{},{}", outer, run.id));
  run.start.settings.emplace_back("TIDEMARK_KEEP", "all");
  return run;
}

ExitCode run_expecting(const ExpectedRun& run, const Messages& messages) {
  RunSegments segments(run.directory, run.id);
  const ProgramEnd end = supervise(run.start, [&] { segments.look(); });
  segments.look();
  const std::vector<ProcessView> processes = segments.read();
  const bool is_as_expected = judge(run, processes);
  add_note_on_living(processes, messages);
  for (const std::string& failed : segments.remove(run.keep)) {
    messages.note(fmt::format("run: {}", failed));
  }
  if (end.signal != 0) {
    die_by(end.signal);
  }
  return end.exit_code != 0 ? static_cast<ExitCode>(end.exit_code)
         : is_as_expected   ? ExitCode::Done
                            : ExitCode::ExpectationFailed;
}

}  // namespace tidemark::viewer
