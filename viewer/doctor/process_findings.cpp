#include "viewer/doctor/process_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::viewer {
namespace {

using enum Weight;

constexpr std::string_view kRunIt = "start it with: tidemark run -- CMD";

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The loader's own word is on the program's stderr, which is gone: what is left is to see which of its reasons holds.
Finding why_not_loaded(const ProcessFacts& facts) {
  const auto ours = std::ranges::find_if(facts.preloads, &Preload::is_ours);
  if (ours == facts.preloads.end()) {
    return {Problem, "not-preloaded",
            "libtidemark.so is not loaded: LD_PRELOAD did not name it when the process started", std::string{kRunIt}};
  }
  if (facts.is_static) {
    return {Problem, "static",
            fmt::format("{} is statically linked: no loader ran that could preload anything", facts.executable),
            "link it dynamically"};
  }
  if (facts.is_secure) {
    return {Problem, "privileged",
            fmt::format("{} gets privileges from its file (setuid, setgid or capabilities), and the loader ignored "
                        "LD_PRELOAD",
                        facts.executable),
            "start a copy of it without them"};
  }
  if (facts.is_other_machine) {
    return {Problem, "other-machine",
            fmt::format("{} is built for another machine or word size than libtidemark.so", facts.executable),
            "build Tidemark for it"};
  }
  if (!ours->exists) {
    return {Problem, "no-such-library",
            fmt::format("LD_PRELOAD names {}, which is not there{}", ours->path,
                        facts.has_other_root ? " in the process's container" : ""),
            facts.has_other_root ? "install Tidemark in the container, or mount it there under the same path"
                                 : "give the path of an installed libtidemark.so"};
  }
  return {Problem, "not-loaded",
          fmt::format("LD_PRELOAD names {}, and it is not loaded: the loader refused it, or the program was given the "
                      "variable by another one that had dropped it",
                      ours->path),
          "the loader's line on the program's stderr says why ('cannot be preloaded'); tidemark doctor tries it here"};
}

void add_interposers(Findings& findings, const ProcessFacts& facts) {
  bool is_before_ours = std::ranges::any_of(facts.preloads, &Preload::is_ours);
  for (const Preload& preload : facts.preloads) {
    is_before_ours = is_before_ours && !preload.is_ours;
    if (preload.is_ours) {
      continue;
    }
    if (preload.has_our_names) {
      findings.push_back({Problem, "interposer",
                          fmt::format("{} in LD_PRELOAD has functions of the same names{}", preload.path,
                                      is_before_ours ? " and comes before ours: calls go there first" : ""),
                          "one of the two may not see every call; try without it"});
    } else {
      findings.push_back({Note, "other-preload", fmt::format("LD_PRELOAD also has {}", preload.path)});
    }
  }
}

void add_drivers(Findings& findings, const ProcessFacts& facts) {
  if (facts.drivers.empty()) {
    findings.push_back({Note, "no-driver", "no CUDA or MTIA driver is loaded: there is nothing to track yet"});
    return;
  }
  for (const std::string_view prefix : {"libcuda.so", "libmtia.so"}) {
    const auto copies = std::ranges::count_if(
        facts.drivers, [&](const std::string& path) { return base_name(path).starts_with(prefix); });
    if (copies > 1) {
      findings.push_back({Problem, "two-drivers",
                          fmt::format("{} copies of {} are loaded, and one of them is served", copies, prefix),
                          "calls into the other go past us; let LD_LIBRARY_PATH lead everybody to one"});
    }
  }
  findings.push_back({Fine, "driver", fmt::format("loaded: {}", fmt::join(facts.drivers, ", "))});
}

bool is_looked_into(const std::string& directory, std::span<const std::filesystem::path> directories) {
  return std::ranges::any_of(directories, [&](const std::filesystem::path& known) {
    std::error_code error;
    return known == directory || (std::filesystem::equivalent(known, directory, error) && !error);
  });
}

Finding why_no_segment(const ProcessFacts& facts, std::span<const std::filesystem::path> directories) {
  const Environment& environment = facts.environment;
  const auto is = [&](std::string_view name, std::string_view value) { return value_of(environment, name) == value; };
  if (is("TIDEMARK_MODE", "off")) {
    return {Problem, "mode-off", "TIDEMARK_MODE=off: every call is only forwarded", "start it without the variable"};
  }
  if (is_in_list(value_of(environment, "TIDEMARK_SKIP"), base_name(facts.executable))) {
    return {Problem, "skipped",
            fmt::format("TIDEMARK_SKIP names {}: every call is only forwarded", base_name(facts.executable)),
            "take it out of the list"};
  }
  if (is_another_meant(environment, facts.own_pid)) {
    return {Problem, "only-pid",
            fmt::format("TIDEMARK_ONLY_PID={}: of the processes of that run only this one is tracked",
                        value_of(environment, "TIDEMARK_ONLY_PID")),
            "start it without --no-children"};
  }
  if (is("TIDEMARK_SHM", "off")) {
    return {Problem, "shm-off", "TIDEMARK_SHM=off: memory is cached, and nobody can look at it",
            "start it without the variable"};
  }
  const bool needs_directory = !is("TIDEMARK_SHM", "memfd");
  if (needs_directory && !facts.directory_trouble.empty()) {
    return {Problem, "directory",
            fmt::format("there is no segment, and {}, where it would be, {}", facts.directory, facts.directory_trouble),
            "mend that, or set TIDEMARK_DIR to another directory, and start the program again"};
  }
  if (needs_directory && !facts.has_other_root && !is_looked_into(facts.directory, directories)) {
    return {Problem, "elsewhere", fmt::format("its segment is in {}, where nobody looked", facts.directory),
            fmt::format("add --dir {}", facts.directory)};
  }
  if (facts.drivers.empty()) {
    return {Note, "no-allocation", "there is no segment yet: it comes with the first allocation that succeeds"};
  }
  return {Note, "not-met",
          "there is no segment, though a driver is loaded: no allocation has succeeded through us, so either none was "
          "made yet, or the calls go past us",
          "if it does hold memory: was the driver loaded with RTLD_DEEPBIND or dlmopen, or by a static copy?"};
}

}  // namespace

Findings findings_of_process(const ProcessFacts& facts, bool has_segment,
                             std::span<const std::filesystem::path> directories) {
  Findings findings;
  if (facts.is_zombie) {
    findings.push_back({Note, "zombie", "the process has ended and waits for its parent to take note"});
    return findings;
  }
  if (!facts.is_readable) {
    findings.push_back(
        {Problem, kUnreadable, fmt::format("process {} of user {} cannot be looked into", facts.pid, facts.uid),
         facts.is_viewer_root ? "the system lets nobody trace it from here: ask outside this container, or "
                                "with the capability CAP_SYS_PTRACE"
                              : "ask as that user or as root"});
    return findings;
  }
  if (facts.library.empty()) {
    findings.push_back(why_not_loaded(facts));
  } else if (facts.is_library_replaced) {
    findings.push_back({Note, "library-replaced",
                        fmt::format("{} was replaced or removed since it was loaded", facts.library),
                        "start the program again to have the new one"});
  } else {
    findings.push_back({Fine, "library", fmt::format("{} is loaded", facts.library)});
  }
  add_interposers(findings, facts);
  add_drivers(findings, facts);
  if (!facts.library.empty() && !has_segment) {
    findings.push_back(why_no_segment(facts, directories));
  }
  return findings;
}

}  // namespace tidemark::viewer
