// tidemark run: exec a program in place under the shim. Same pid, terminal, signals and exit code: no code of ours is
// in the way once it runs.
#include "viewer/commands/commands.hpp"

#include "viewer/launch/places.hpp"
#include "viewer/launch/preflight.hpp"
#include "viewer/launch/run_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace tidemark::viewer {
namespace {

std::optional<std::string> present_environment(std::string_view name) {
  const char* value = std::getenv(std::string{name}.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

// What a shell does: a file that the kernel does not know is given to sh.
void execute(const std::string& path, const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) {
    argv.push_back(const_cast<char*>(word.c_str()));  // execv's type; it changes nothing
  }
  argv.push_back(nullptr);
  execv(path.c_str(), argv.data());
  if (errno == ENOEXEC) {
    argv[0] = const_cast<char*>(path.c_str());
    argv.insert(argv.begin(), const_cast<char*>("sh"));
    execv("/bin/sh", argv.data());
  }
}

ExitCode run(const Arguments& arguments, const Context& context) {
  const std::vector<std::string>& words = arguments.operands();
  if (words.empty()) {
    throw Failure(ExitCode::Usage, "run: needs a program: tidemark run [options] [--] CMD ARG...");
  }
  Settings settings = shim_settings(arguments, present_environment);
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
  for (auto& loader : loader_settings(present_environment, library, simulator, check.sanitizers)) {
    settings.push_back(std::move(loader));
  }
  for (const auto& [name, value] : settings) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  execute(path, words);
  const int error = errno;
  throw Failure(error == ENOENT ? ExitCode::NoSuchProgram : ExitCode::NotExecutable,
                fmt::format("run: {}: {}", path, std::strerror(error)));
}

}  // namespace

Command run_command() {
  return {.syntax = {.name = "run",
                     .operands = "[--] CMD ARG...",
                     .takes = Operands::Program,
                     .summary = "Runs CMD under the shim, in place: same pid, terminal, signals and exit code.",
                     .examples = "  tidemark run -- ./train --epochs 3\n"
                                 "  tidemark run --label eval --limit 8GiB python3 eval.py\n"
                                 "  tidemark run --simulate mtia -- ./mtia_train\n",
                     .options = run_option_specs(),
                     .looks_at_segments = false},
          .run = run};
}

}  // namespace tidemark::viewer
