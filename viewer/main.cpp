// The entry of `tidemark`: finds the command, lets it run, turns what went wrong into one line and an exit code.
#include "viewer/commands/commands.hpp"
#include "viewer/file_limit.hpp"
#include "viewer/node/node_watch.hpp"
#include "viewer/segment_directories.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tidemark::viewer {
namespace {

// Common options may stand before the command, too: `tidemark --dir D ps`. They are handed on to it.
struct CommandLine {
  std::string command;
  std::vector<std::string> words;
};

CommandLine find_command_word(const std::vector<std::string>& words) {
  const SplitWords split = split_words(words, common_options(), true);
  if (!split.missing_value.empty()) {
    throw Failure(ExitCode::Usage, split.missing_value);
  }
  CommandLine line;
  line.words = split.ours;
  if (!split.rest.empty()) {
    line.command = split.rest.front();
    line.words.insert(line.words.end(), split.rest.begin() + 1, split.rest.end());
  }
  return line;
}

bool is_on_terminal() { return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1; }

ExitCode run(const std::vector<std::string>& words) {
  if (!words.empty() && (words[0] == "--version" || words[0] == "-V")) {
    fmt::print("tidemark {}\n", TIDEMARK_VERSION);
    return ExitCode::Done;
  }
  if (!words.empty() && (words[0] == "--help" || words[0] == "-h")) {
    fmt::print("{}", overview());
    return ExitCode::Done;
  }
  CommandLine line = find_command_word(words);
  if (line.command.empty()) {
    line.command = is_on_terminal() ? "top" : "ps";
  }
  const Command* command = find_command(line.command);
  if (command == nullptr) {
    fail_unknown_command(line.command);
  }
  const Arguments arguments = parse_arguments(command->syntax, line.words);
  if (arguments.has("--help")) {
    fmt::print("{}", help_text(command->syntax));
    return ExitCode::Done;
  }
  Context context{.messages = Messages{arguments.has("--quiet")}, .directories = {}};
  const bool starts_programs = command->syntax.takes == Operands::Program ||
                               (command->syntax.takes == Operands::OneAndProgram && arguments.program().has_value());
  if (command->syntax.looks_at_segments) {
    if (!starts_programs) {
      allow_many_files();
    }
    context.directories = segment_directories(arguments.values("--dir"), context.messages);
  }
  if (!starts_programs) {
    // `tidemark ps | head -1` ends quietly. Not before a program: it inherits what its parent had ignored.
    std::signal(SIGPIPE, SIG_DFL);
  }
  return command->run(arguments, context);
}

constexpr std::string_view kCannotWrite = "cannot write the output";

// Output that went nowhere (disk full, closed pipe) is a failure, not a success.
ExitCode flush(ExitCode code) {
  if (std::fflush(stdout) != 0 && code == ExitCode::Done) {
    warn(fmt::format("{}: {}", kCannotWrite, std::strerror(errno)));
    return ExitCode::Failed;
  }
  return code;
}

int run_and_report(int argc, char** argv) {
  try {
    return static_cast<int>(flush(run({argv + std::min(argc, 1), argv + argc})));
  } catch (const Failure& failure) {
    warn(failure.what());
    return static_cast<int>(failure.code());
  } catch (const std::system_error& error) {
    // fmt's own words for what flush() says of less than a buffer.
    const bool is_output = std::string_view{error.what()}.starts_with("cannot write to file");
    warn(is_output ? fmt::format("{}: {}", kCannotWrite, error.code().message()) : error.what());
    return static_cast<int>(ExitCode::Failed);
  } catch (const std::exception& error) {
    warn(error.what());
    return static_cast<int>(ExitCode::Failed);
  }
}

}  // namespace
}  // namespace tidemark::viewer

int main(int argc, char** argv) {
  using namespace tidemark::viewer;
  // Characters only: a decimal comma would break every number that a script reads.
  std::setlocale(LC_CTYPE, "");
  const int code = run_and_report(argc, argv);
  if (NodeWatch::has_left_one()) {
    std::fflush(nullptr);
    _exit(code);
  }
  return code;
}
