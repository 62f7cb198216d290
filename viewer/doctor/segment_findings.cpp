#include "viewer/doctor/process_findings.hpp"

#include "viewer/model/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tidemark::viewer {
namespace {

using enum Weight;
using segment::ProcessFlag;
using segment::SymbolCoverage;
using segment::SymbolUse;

bool allocates(std::string_view name) {
  constexpr std::array<std::string_view, 5> kStems{"cuMemAlloc", "cudaMalloc", "cuMemCreate", "cuArray", "mtiaMalloc"};
  return std::ranges::any_of(kStems, [&](std::string_view stem) { return name.starts_with(stem); });
}

bool is_of(std::string_view name, std::string_view driver) {
  return driver == "libmtia" ? name.starts_with("mtia") : name.starts_with("cu");
}

std::string names_of(const segment::CoverageList& functions) {
  std::string text;
  for (const SymbolCoverage& function : functions) {
    text += (text.empty() ? "" : ", ") + function.name;
  }
  return text;
}

template <class Predicate>
segment::CoverageList those(const segment::CoverageList& coverage, Predicate predicate) {
  segment::CoverageList found;
  std::ranges::copy_if(coverage, std::back_inserter(found), predicate);
  return found;
}

void add_mode(Findings& findings, const ProcessView& process) {
  const segment::ProcessGlobals& globals = process.snapshot.globals;
  if (globals.mode == segment::ProcessMode::Cache && globals.mode_reason.empty()) {
    findings.push_back({Fine, "mode", "memory is cached and counted"});
    return;
  }
  const std::string reason = globals.mode_reason.empty() ? "" : fmt::format(", because {}", globals.mode_reason);
  findings.push_back({Note, "mode",
                      globals.mode == segment::ProcessMode::Count
                          ? fmt::format("memory is counted and not cached{}", reason)
                          : fmt::format("mode {}{}", to_text(globals.mode), reason)});
}

void add_driver(Findings& findings, const segment::CoverageList& coverage, std::string_view driver) {
  const segment::CoverageList allocating = those(coverage, [&](const SymbolCoverage& function) {
    return allocates(function.name) && is_of(function.name, driver);
  });
  if (allocating.empty() || std::ranges::any_of(allocating, [](const SymbolCoverage& function) {
        return function.has(SymbolUse::Entered);
      })) {
    return;
  }
  const bool is_known = std::ranges::any_of(allocating, [](const SymbolCoverage& function) {
    return function.has(SymbolUse::Resolved) || function.has(SymbolUse::Swapped);
  });
  findings.push_back(
      is_known ? Finding{Note, "never-called",
                         fmt::format("{} is loaded; ways to allocate in it were looked up through us, and none was "
                                     "called yet",
                                     driver)}
               : Finding{Note, "hook-never-hit",
                         fmt::format("{} is loaded, and no way to allocate in it came through us", driver),
                         "if the program does allocate there: was it loaded with RTLD_DEEPBIND or dlmopen?"});
}

void add_coverage(Findings& findings, const segment::CoverageList& coverage, std::span<const std::string> drivers) {
  const segment::CoverageList missed = those(coverage, [](const SymbolCoverage& function) {
    return function.has(SymbolUse::Missed) && !function.has(SymbolUse::Entered);
  });
  if (!missed.empty()) {
    findings.push_back(
        {Problem, "missed",
         fmt::format("looked up past us, in a library that is not the driver we serve: {}", names_of(missed)),
         "a second copy of the driver, or a wrapper of another name; let there be one"});
  }
  const segment::CoverageList twice = those(coverage, [](const SymbolCoverage& function) {
    return function.has(SymbolUse::Missed) && function.has(SymbolUse::Entered) && allocates(function.name);
  });
  if (!twice.empty()) {
    findings.push_back(
        {Note, "missed-too",
         fmt::format("looked up past us as well, in a library that is not the driver we serve: {}", names_of(twice)),
         "a wrapper that ends in that driver is seen there; what a second copy of the driver allocates is not"});
  }
  for (const std::string_view driver : {"libcuda", "libmtia"}) {
    if (std::ranges::any_of(drivers, [&](std::string_view path) {
          return path.substr(path.rfind('/') + 1).starts_with(fmt::format("{}.so", driver));
        })) {
      add_driver(findings, coverage, driver);
    }
  }
  const segment::CoverageList unseen = unaccounted(coverage);
  findings.push_back(unseen.empty()
                         ? Finding{Fine, "accounted", "every allocation that was seen is accounted for"}
                         : Finding{Problem, "unaccounted",
                                   fmt::format("successful calls whose memory is in no number of ours: {}",
                                               unaccounted_text(coverage)),
                                   "compare with the driver's own figure: the 'not ours' line of tidemark show"});
  if (const std::uint64_t tables = tables_asked_for(coverage); tables > 0) {
    findings.push_back({Note, "export-tables",
                        fmt::format("tables of private functions given out by the driver: {}; what allocates through "
                                    "one is not seen (every genuine CUDA runtime asks for some)",
                                    tables)});
  }
}

void add_control(Findings& findings, const ProcessView& process, std::string_view obstacle) {
  const segment::ProcessGlobals& globals = process.snapshot.globals;
  if (globals.control_policy == segment::ControlPolicy::Off) {
    findings.push_back({Note, "control-off", "it takes no requests (TIDEMARK_CONTROL=off)",
                        "start it without the variable to reset peaks and empty caches from outside"});
  } else if (!obstacle.empty()) {
    findings.push_back(
        {Problem, "control-closed", std::string{obstacle}, "start the program again to ask it anything"});
  } else if (globals.control_policy == segment::ControlPolicy::Peaks) {
    findings.push_back({Note, "control-peaks", "it obeys resets of peaks alone (TIDEMARK_CONTROL=peaks)"});
  }
  if (!globals.has(ProcessFlag::ServiceThread)) {
    findings.push_back(
        {Note, "no-thread", "without a service thread requests are answered in the program's next allocation or free"});
  }
}

}  // namespace

Findings findings_of_segment(const ProcessView& process, std::string_view obstacle,
                             std::span<const std::string> drivers) {
  const segment::ProcessSnapshot& snapshot = process.snapshot;
  Findings findings;
  findings.push_back({Fine, "segment", fmt::format("it publishes its counters (id {})", process.id())});
  if (snapshot.has_newer_layout) {
    findings.push_back({Note, "newer-layout",
                        "its library is newer than this tidemark: what this one does not know is "
                        "left out",
                        "use the tidemark that came with it"});
  }
  if (!process.is_alive()) {
    findings.push_back({Note, "ended",
                        snapshot.state == segment::ProcessState::Replaced
                            ? "it was replaced by an exec: these are the last words of the program before; what runs "
                              "there now has allocated nothing yet"
                            : fmt::format("it has ended ({}): these are its last words", to_text(snapshot.state))});
  } else if (snapshot.state == segment::ProcessState::Stopped) {
    findings.push_back({Note, "stopped",
                        "it is stopped (SIGSTOP or a debugger): nothing changes and nothing is answered",
                        fmt::format("kill -CONT {}", process.pid())});
  }
  add_mode(findings, process);
  if (process.coverage) {
    add_coverage(findings, *process.coverage, drivers);
  } else {
    findings.push_back({Note, "coverage-unknown", "its library is too old to say which calls it saw"});
  }
  for (const DeviceView& device : process.devices) {
    if (!device.snapshot.kinds) {
      findings.push_back({Note, "kinds-unknown",
                          fmt::format("{}: nobody counts other kinds of memory below a CUDA runtime that ends in no "
                                      "driver; they are in 'not ours'",
                                      device.name)});
    }
  }
  if (snapshot.globals.errors > 0) {
    findings.push_back({Note, "errors",
                        fmt::format("{} failures of the library that the program never saw, the last of code {}",
                                    snapshot.globals.errors, snapshot.globals.last_error_code),
                        "TIDEMARK_LOG=info says more"});
  }
  if (process.is_alive()) {
    add_control(findings, process, obstacle);
  }
  return findings;
}

}  // namespace tidemark::viewer
