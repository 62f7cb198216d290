// tidemark run: exec a program in place under the shim. Same pid, terminal, signals and exit code: no code of ours is
// in the way once it runs. With --expect it is a child, and all but the pid is the same.
#include "viewer/commands/commands.hpp"

#include "viewer/launch/expected_run.hpp"
#include "viewer/launch/mapped_file.hpp"
#include "viewer/launch/places.hpp"
#include "viewer/launch/preflight.hpp"
#include "viewer/launch/program_start.hpp"
#include "viewer/launch/run_options.hpp"
#include "viewer/launch/static_runtime.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace tidemark::viewer {
namespace {

std::optional<std::string> present_environment(std::string_view name) {
  const char* value = std::getenv(std::string{name}.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

// NVIDIA's own runtime, linked into a program, finds the simulated driver and refuses it with a code that says little.
void add_note_on_static_runtime(const Preflight& check, const Messages& messages) {
  if (check.facts && has_nvidia_runtime_inside(*check.facts, MappedFile(check.program).bytes())) {
    messages.note(fmt::format("{} {}: it won't run on the simulated one; link it with nvcc -cudart shared",
                              check.program, kNvidiaRuntimeInside));
  }
}

ExitCode run(const Arguments& arguments, const Context& context) {
  const std::vector<std::string>& words = arguments.operands();
  if (words.empty()) {
    throw Failure(ExitCode::Usage, "run: needs a program: tidemark run [options] [--] CMD ARG...");
  }
  std::vector<Expectation> expectations;
  for (const std::string& text : arguments.values("--expect")) {
    expectations.push_back(parse_expectation(text));
  }
  Settings settings = shim_settings(arguments, present_environment);
  // Whoever looks at a terminal wants to know how it went. Each process of the run asks for itself whether its stderr
  // is one: what is read by others stays the program's own.
  if (isatty(STDERR_FILENO) == 1 && !arguments.has("--report") && !arguments.has("--quiet") &&
      !present_environment("TIDEMARK_REPORT")) {
    settings.emplace_back("TIDEMARK_REPORT", "terminal");
  }
  const std::filesystem::path bin = executable_directory();
  const std::string library = loadable_path(find_library(bin)).string();
  const std::string simulator =
      arguments.has("--simulate") ? loadable_path(find_simulator(bin)).string() : std::string{};

  const std::string search_path = present_environment("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  const std::string path = resolve_program(words.front(), search_path);
  const Preflight check = preflight(words, path, search_path);
  for (const std::string& reason : check.reasons) {
    if (arguments.has("--strict")) {
      throw Failure(ExitCode::CannotLaunch, fmt::format("run: {}; not started (--strict)", reason));
    }
    context.messages.note(fmt::format("{}; it starts untracked", reason));
  }
  if (arguments.value("--simulate") == "cuda") {
    add_note_on_static_runtime(check, context.messages);
  }
  add_nvtx_setting(settings, arguments, present_environment, library);
  for (auto& loader : loader_settings(present_environment, library, simulator, check.sanitizers)) {
    settings.push_back(std::move(loader));
  }
  ProgramStart start{
      .path = path, .words = words, .settings = std::move(settings), .is_alone = arguments.has("--no-children")};
  if (!expectations.empty()) {
    return run_expecting(
        prepare_expected_run(std::move(start), std::move(expectations), check.reasons, present_environment),
        context.messages);
  }
  const int error = become_program(start);
  throw failure_to_start(start, error);
}

}  // namespace

Command run_command() {
  return {.syntax = {.name = "run",
                     .operands = "[--] CMD ARG...",
                     .takes = Operands::Program,
                     .summary = "Runs CMD under the shim, in place: same pid, terminal, signals and exit code.",
                     .examples = "  tidemark run -- ./train --epochs 3\n"
                                 "  tidemark run --label eval --limit 8GiB python3 eval.py\n"
                                 "  tidemark run --expect 'peak<=512MiB' --expect ooms==0 -- ./test   exit 123 if not\n"
                                 "  tidemark run --nvtx -- ./train                     then: tidemark ranges PID\n"
                                 "  tidemark run --simulate mtia -- ./mtia_train\n",
                     .options = run_option_specs(),
                     .looks_at_segments = false},
          .run = run};
}

}  // namespace tidemark::viewer
