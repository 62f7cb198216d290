#include "viewer/launch/program_start.hpp"

#include "viewer/launch/failed_exec.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace tidemark::viewer {
namespace {

// A `run` inside the program of another one starts a program of its own: whom the outer one meant is not its business.
void choose_process(bool is_alone) {
  constexpr const char* kOnly = "TIDEMARK_ONLY_PID";
  const std::string own = fmt::format("{}", getpid());
  const char* const inherited = std::getenv(kOnly);
  if (is_alone) {
    setenv(kOnly, own.c_str(), 1);
  } else if (inherited != nullptr && own != inherited) {
    unsetenv(kOnly);
  }
}

}  // namespace

int become_program(const ProgramStart& start) {
  for (const auto& [name, value] : start.settings) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  choose_process(start.is_alone);
  std::vector<char*> argv;
  for (const std::string& word : start.words) {
    argv.push_back(const_cast<char*>(word.c_str()));  // execv's type; it changes nothing
  }
  argv.push_back(nullptr);
  execv(start.path.c_str(), argv.data());
  if (errno == ENOEXEC) {  // what a shell does: a file that the kernel does not know is given to sh
    argv[0] = const_cast<char*>(start.path.c_str());
    argv.insert(argv.begin(), const_cast<char*>("sh"));
    execv("/bin/sh", argv.data());
  }
  return errno;
}

Failure failure_to_start(const ProgramStart& start, int error) {
  return Failure(error == ENOENT ? ExitCode::NoSuchProgram : ExitCode::NotExecutable,
                 fmt::format("run: {}: {}", start.path, explain_failed_exec(start.path, error)));
}

}  // namespace tidemark::viewer
