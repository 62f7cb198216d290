#include "viewer/doctor/program_findings.hpp"

#include "viewer/doctor/process_facts.hpp"
#include "viewer/exit_code.hpp"
#include "viewer/launch/mapped_file.hpp"
#include "viewer/launch/preflight.hpp"
#include "viewer/launch/static_runtime.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tidemark::viewer {
namespace {

using enum Weight;

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_one_of(std::string_view names, std::string_view name) {
  return names.find(fmt::format(" {} ", name)) != std::string_view::npos;
}

// They hand the environment on, to where the library has to be as well.
constexpr std::string_view kSpreaders = " srun mpirun mpiexec mpiexec.hydra orterun prterun ";
// They load what they serve with RTLD_DEEPBIND, whose calls find the driver before us.
constexpr std::string_view kDeepBinders = " apache2 httpd php php-fpm ";

void add_loader(Findings& findings, const Preflight& check) {
  if (check.facts && check.facts->interpreter.find("ld-musl") != std::string::npos) {
    findings.push_back(
        {Problem, "other-libc",
         fmt::format("{} runs on musl ({}), and libtidemark.so needs glibc", check.program, check.facts->interpreter),
         "use a build of the program for glibc"});
  } else if (check.facts && !check.facts->interpreter.empty() && !check.facts->interpreter.starts_with("/lib")) {
    findings.push_back({Note, "own-loader",
                        fmt::format("{} brings a loader of its own ({}), and with it perhaps an "
                                    "older glibc",
                                    check.program, check.facts->interpreter),
                        "libtidemark.so needs glibc 2.35; the loader says so if it is older"});
  }
}

void add_drivers(Findings& findings, const Preflight& check) {
  std::vector<std::string> drivers;
  if (check.facts) {
    std::ranges::copy_if(check.facts->needed, std::back_inserter(drivers), [](const std::string& name) {
      return name.starts_with("libcuda") || name.starts_with("libmtia");
    });
  }
  if (!drivers.empty()) {
    findings.push_back({Fine, "linked", fmt::format("it is linked against {}", fmt::join(drivers, ", "))});
  } else if (check.facts && has_nvidia_runtime_inside(*check.facts, MappedFile(check.program).bytes())) {
    findings.push_back(
        {Note, "static-runtime",
         fmt::format("{} {}: it is tracked, and won't run on the simulated one", check.program, kNvidiaRuntimeInside),
         "for tidemark run --simulate cuda link it with nvcc -cudart shared"});
  } else if (check.facts && check.reasons.empty()) {
    findings.push_back({Note, "not-linked",
                        fmt::format("{} is linked against no driver: what it loads later is met all "
                                    "the same",
                                    check.program)});
  }
}

void add_environment(Findings& findings, const Environment& environment, std::string_view program) {
  for (const std::string& part : preload_parts(value_of(environment, "LD_PRELOAD"))) {
    if (base_name(part) == "libtidemark.so") {
      findings.push_back({Note, "preloaded", fmt::format("LD_PRELOAD has {} already", part),
                          "tidemark run puts its own in its place"});
    } else if (has_our_names(part)) {
      findings.push_back({Problem, "interposer", fmt::format("{} in LD_PRELOAD has functions of the same names", part),
                          "one of the two may not see every call; try without it"});
    } else {
      findings.push_back({Note, "other-preload", fmt::format("LD_PRELOAD also has {}", part)});
    }
  }
  const auto is = [&](std::string_view name, std::string_view value) { return value_of(environment, name) == value; };
  if (is("TIDEMARK_MODE", "off")) {
    findings.push_back({Problem, "mode-off", "TIDEMARK_MODE=off: every call would only be forwarded",
                        "unset it, or use tidemark run --mode cache"});
  }
  if (is("TIDEMARK_SHM", "off")) {
    findings.push_back({Problem, "shm-off", "TIDEMARK_SHM=off: nobody could look at it", "unset it"});
  }
  if (is_in_list(value_of(environment, "TIDEMARK_SKIP"), base_name(program))) {
    findings.push_back(
        {Problem, "skipped", fmt::format("TIDEMARK_SKIP names {}", base_name(program)), "take it out of the list"});
  }
}

std::string_view code_of(const Preflight& check, const std::string& reason) {
  if (check.program.empty()) {
    return "launcher";
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kCodes{
      {{"setuid", "privileged"}, {"setgid", "privileged"}, {"capabilities", "privileged"}, {"statically", "static"}}};
  const auto known =
      std::ranges::find_if(kCodes, [&](const auto& code) { return reason.find(code.first) != std::string::npos; });
  return known == kCodes.end() ? "other-machine" : known->second;
}

}  // namespace

Findings findings_of_program(const std::vector<std::string>& words, const Environment& environment) {
  Findings findings;
  const std::string_view given = value_of(environment, "PATH");
  const std::string_view search_path = given.empty() ? "/usr/local/bin:/usr/bin:/bin" : given;
  std::string path;
  try {
    path = resolve_program(words.front(), search_path);
  } catch (const Failure& failure) {
    constexpr std::string_view kCommand = "run: ";
    const std::string_view what = failure.what();
    findings.push_back({Problem, failure.code() == ExitCode::NoSuchProgram ? "no-such-program" : "not-executable",
                        std::string{what.starts_with(kCommand) ? what.substr(kCommand.size()) : what}});
    return findings;
  }
  const Preflight check = preflight(words, path, search_path);
  for (const std::string& reason : check.reasons) {
    findings.push_back({Problem, code_of(check, reason), reason});
  }
  if (!check.missing_interpreter.empty()) {
    findings.push_back({Problem, "no-interpreter",
                        fmt::format("{} is a script of {}, which is not there", path, check.missing_interpreter),
                        "install it, or mend the script's first line"});
  }
  if (findings.empty()) {
    findings.push_back({Fine, "program", fmt::format("{} can be preloaded", path)});
  }
  if (is_one_of(kSpreaders, base_name(words.front()))) {
    findings.push_back(
        {Note, "spreader",
         fmt::format("{} starts the program elsewhere, too, with this environment", base_name(words.front())),
         fmt::format("put it in front: {} ... tidemark run -- CMD, with Tidemark on every node",
                     base_name(words.front()))});
  }
  if (is_one_of(kDeepBinders, base_name(check.program))) {
    findings.push_back({Note, "deep-bind",
                        fmt::format("{} may load its modules with RTLD_DEEPBIND, whose linked calls go past us",
                                    base_name(check.program)),
                        "functions that they get by dlsym or from the driver's resolver are met all the same"});
  }
  for (const std::string& sanitizer : check.sanitizers) {
    findings.push_back({Note, "sanitizer",
                        fmt::format("it is linked against {}, which tidemark run preloads before ours", sanitizer)});
  }
  add_loader(findings, check);
  add_drivers(findings, check);
  add_environment(findings, environment, check.program.empty() ? path : check.program);
  return findings;
}

}  // namespace tidemark::viewer
