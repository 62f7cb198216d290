// tidemark leaks: what grows in a running program and stays, by stack.
#include "viewer/blocked_signals.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/duration_text.hpp"
#include "viewer/history/borrowed_recording.hpp"
#include "viewer/history/find_snapshot.hpp"
#include "viewer/history/growth_text.hpp"
#include "viewer/history/short_stacks.hpp"
#include "viewer/history/take_snapshot.hpp"
#include "viewer/history/top_option.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/interval.hpp"
#include "viewer/model/target.hpp"

#include "shared/segment/own_identity.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <csignal>
#include <ctime>

namespace tidemark::viewer {
namespace {

constexpr std::chrono::seconds kDefaultLength{30};

constexpr std::array kOptions{
    OptionSpec{"--for", "", Takes::Value, "SEC", "how long (30 s); what is freed within half of it is no leak"},
    OptionSpec{"--top", "-n", Takes::Value, "N", "stacks of each device that are told (10); 0: all"},
    OptionSpec{"--all-frames", "", Takes::Nothing, "",
               "whole stacks, with the calls inside the driver and in front of main()"},
    OptionSpec{"--json", "", Takes::Nothing, "", "one JSON document"},
};

std::chrono::milliseconds length_of(const Arguments& arguments) {
  const auto text = arguments.value("--for");
  if (!text) {
    return kDefaultLength;
  }
  const auto length = parse_duration(*text);
  if (!length || length->count() == 0) {
    throw Failure(ExitCode::Usage, fmt::format("leaks: --for '{}'; allowed: {}, above 0", *text, kDurationForms));
  }
  return *length;
}

// A file is a mistake that is easily made: wherever else a TARGET stands, one may stand, too.
std::size_t find_process(const View& view, const std::string& word) {
  const auto fail_file = [&word] {
    throw Failure(
        ExitCode::Usage,
        fmt::format("leaks: '{}' is a file, and nothing grows in one; two of them: tidemark diff OLD NEW", word));
  };
  if (is_file_name(word)) {
    fail_file();
  }
  try {
    return resolve_target(view, word);
  } catch (const Failure& failure) {
    if (failure.code() == ExitCode::NotFound && is_there(word)) {
      fail_file();
    }
    throw;
  }
}

[[noreturn]] void fail_ended(const ProcessView& process) {
  throw Failure(ExitCode::NotFound, fmt::format("process {} ended before it could be told what stays", process.pid()));
}

// The snapshot after this long, of the recording that there was at the beginning.
MemorySnapshot snapshot_after(const ProcessView& process, const BorrowedRecording& recording,
                              std::chrono::milliseconds wait) {
  if (!wait_for_end(*process.reader, wait)) {
    if (!process.reader->is_owner_alive()) {
      fail_ended(process);
    }
    throw Failure(ExitCode::Failed,
                  fmt::format("interrupted: too short to tell what stays in process {}; it records as "
                              "it did before",
                              process.pid()));
  }
  MemorySnapshot snapshot = take_snapshot(look_again(process)).snapshot;
  if (const std::string became = recording.what_became_of_it(snapshot.recording); !became.empty()) {
    throw Failure(ExitCode::Failed, fmt::format("the recording of process {} {} meanwhile, by somebody else: what grew "
                                                "is not known; run leaks again",
                                                process.pid(), became));
  }
  return snapshot;
}

ExitCode run(const Arguments& arguments, const Context& context) {
  const std::chrono::milliseconds length = length_of(arguments);
  const std::size_t top = top_option(arguments, "leaks");
  const View view = collect(context.directories);
  const ProcessView& process = view.processes[find_process(view, arguments.operands().front())];
  if (!process.is_alive()) {
    throw Failure(ExitCode::NotFound,
                  fmt::format("process {} is dead ({}): nothing grows there; 'tidemark report {}' tells what it held",
                              process.pid(), to_text(process.snapshot.state), process.id()));
  }
  if (process.snapshot.state == segment::ProcessState::Stopped) {
    throw Failure(
        ExitCode::NotInTime,
        fmt::format("process {0} is stopped: nothing grows there; to let it go on: kill -CONT {0}", process.pid()));
  }
  // Ctrl-C and its like end the waiting, wherever else they find us: what was borrowed goes back first.
  const BlockedSignals signals{SIGINT, SIGTERM, SIGHUP};
  BorrowedRecording recording{process};
  if (!recording.detail().empty()) {
    context.messages.note(fmt::format("process {}: {}", process.pid(), recording.detail()));
  }
  const std::uint64_t begin_ns = segment::clock_ns(CLOCK_REALTIME);
  context.messages.note(fmt::format("watching process {} for {}{}", process.pid(),
                                    duration_words(std::chrono::ceil<std::chrono::seconds>(length)),
                                    recording.was_on() ? "" : "; it records meanwhile"));
  MemorySnapshot middle = snapshot_after(process, recording, length / 2);
  MemorySnapshot end = snapshot_after(process, recording, length - length / 2);
  if (const auto failed = recording.give_back()) {
    warn(*failed);
  }
  if (!arguments.has("--all-frames")) {
    shorten_stacks(middle);
    shorten_stacks(end);
  }
  const auto growth = find_growth(begin_ns, middle, end);
  const double seconds = static_cast<double>(end.time_ns() - middle.time_ns()) / 1e9;
  fmt::print("{}", arguments.has("--json") ? growth_json(growth, seconds) + "\n"
                                           : growth_text(growth, terminal_charset(), top));
  return ExitCode::Done;
}

}  // namespace

Command leaks_command() {
  return {.syntax = {.name = "leaks",
                     .operands = "TARGET",
                     .takes = Operands::One,
                     .summary = "Tells what grows in a running program and stays, by stack; records only meanwhile.",
                     .examples = "  tidemark leaks 4711\n"
                                 "  tidemark leaks server --for 10m     for what lives long\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
