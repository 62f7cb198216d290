// tidemark watch: tells what happens to memory, and runs a command for it, also of processes that start later.
#include "viewer/blocked_signals.hpp"
#include "viewer/clean_text.hpp"
#include "viewer/commands/commands.hpp"
#include "viewer/duration_text.hpp"
#include "viewer/launch/background_commands.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/memory_events.hpp"
#include "viewer/model/target.hpp"
#include "viewer/number_text.hpp"
#include "viewer/size_text.hpp"

#include "shared/segment/target.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--all", "", Takes::Nothing, "", "every process that can be seen, also those that start later"},
    OptionSpec{"--on-oom", "", Takes::Value, "CMD",
               "run this by the shell for each event, with TIDEMARK_EVENT, _PID, ... in its environment"},
    OptionSpec{"--above", "", Takes::Value, "SIZE|PCT",
               "holding more than this on a device is an event, too: 6GiB, or 90% of its limit or memory"},
    OptionSpec{"--interval", "-i", Takes::Value, "SEC", "time between two looks (1 s)"},
    OptionSpec{"--count", "", Takes::Value, "N", "end after N events"},
    OptionSpec{"--json", "", Takes::Nothing, "", "one JSON document a line"},
};

struct Wish {
  std::vector<std::string> targets;  // none: all
  std::optional<Threshold> above{};
  std::chrono::milliseconds interval{1000};
  std::optional<std::uint64_t> count{};
  bool json = false;
};

Wish read_wish(const Arguments& arguments) {
  Wish wish{.targets = arguments.operands(), .json = arguments.has("--json")};
  if (wish.targets.empty() != arguments.has("--all")) {
    throw Failure(ExitCode::Usage, wish.targets.empty() ? "watch: which processes? a pid, an id or a label, or --all"
                                                        : "watch: targets or --all, not both");
  }
  if (const auto text = arguments.value("--above")) {
    wish.above = Threshold::parse(*text);
    if (!wish.above) {
      throw Failure(ExitCode::Usage,
                    fmt::format("watch: --above '{}'; allowed: a size above 0 like 512MiB, or a part like 90%", *text));
    }
  }
  if (const auto text = arguments.value("--interval")) {
    const auto length = parse_duration(*text);
    if (!length || length->count() < 50) {
      throw Failure(ExitCode::Usage,
                    fmt::format("watch: -i '{}'; allowed: 50ms and more, as {}", *text, kDurationForms));
    }
    wish.interval = *length;
  }
  if (const auto text = arguments.value("--count")) {
    wish.count = parse_count(*text);
    if (!wish.count || *wish.count == 0) {
      throw Failure(ExitCode::Usage, fmt::format("watch: --count '{}'; allowed: 1 and more", *text));
    }
  }
  return wish;
}

std::string seconds_text(std::uint64_t ns) {
  return fmt::format("{}.{:03}", ns / 1'000'000'000, ns / 1'000'000 % 1000);
}

std::string text_of(const std::optional<std::uint64_t>& bytes) { return bytes ? fmt::format("{}", *bytes) : ""; }

BackgroundCommands::Variables variables_of(const MemoryEvent& event) {
  return {{"TIDEMARK_EVENT", std::string{to_text(event.kind)}},
          {"TIDEMARK_PID", fmt::format("{}", event.pid)},
          {"TIDEMARK_ID", event.id},
          {"TIDEMARK_LABEL", event.label},
          {"TIDEMARK_DEVICE", event.device},
          {"TIDEMARK_REQUESTED_BYTES", text_of(event.requested_bytes)},
          {"TIDEMARK_ALLOCATED_BYTES", fmt::format("{}", event.allocated_bytes)},
          {"TIDEMARK_RESERVED_BYTES", fmt::format("{}", event.reserved_bytes)},
          {"TIDEMARK_HELD_BYTES", fmt::format("{}", event.held_bytes)},
          {"TIDEMARK_FREE_BYTES", text_of(event.free_bytes)},
          {"TIDEMARK_TOTAL_BYTES", text_of(event.total_bytes)},
          {"TIDEMARK_TIME", seconds_text(event.time_ns)}};
}

nlohmann::json if_known(const std::optional<std::uint64_t>& bytes) {
  return bytes ? nlohmann::json(*bytes) : nlohmann::json(nullptr);
}

std::string json_of(const MemoryEvent& event) {
  const nlohmann::ordered_json document{
      {"schema", 1},
      {"event", to_text(event.kind)},
      {"pid", event.pid},
      {"id", event.id},
      {"label", event.label.empty() ? nlohmann::json(nullptr) : nlohmann::json(event.label)},
      {"device", event.device},
      {"times", event.times},
      {"requested_bytes", if_known(event.requested_bytes)},
      {"allocated_bytes", event.allocated_bytes},
      {"reserved_bytes", event.reserved_bytes},
      {"held_bytes", event.held_bytes},
      {"free_bytes", if_known(event.free_bytes)},
      {"total_bytes", if_known(event.total_bytes)},
      {"time",
       static_cast<double>(
           std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::nanoseconds{event.time_ns}).count()) /
           1000}};
  return escape_in_json(document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string line_of(const MemoryEvent& event) {
  const auto time = static_cast<std::time_t>(event.time_ns / 1'000'000'000);
  std::string line = fmt::format("{:%H:%M:%S} {} {} {}: ", fmt::localtime(time), event.pid,
                                 clean_text(event.title, terminal_charset()), event.device);
  if (event.kind == EventKind::OutOfMemory) {
    line += fmt::format("out of memory{}: {} refused; allocated {}, reserved {}",
                        event.times > 1 ? fmt::format(", {} times", event.times) : "",
                        size_words(event.requested_bytes.value_or(0)), size_words(event.allocated_bytes),
                        size_words(event.reserved_bytes));
  } else {
    line += fmt::format("holds {}; allocated {}, reserved {}", size_words(event.held_bytes),
                        size_words(event.allocated_bytes), size_words(event.reserved_bytes));
  }
  if (event.free_bytes && event.total_bytes) {
    line += fmt::format(", device has {} free of {}", size_words(*event.free_bytes), size_words(*event.total_bytes));
  }
  return line;
}

// Waits for the next look. False: a signal said to end.
bool wait_for(std::chrono::milliseconds interval) {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    sigaddset(&ends, signal);
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(interval);
  const timespec length{.tv_sec = seconds.count(), .tv_nsec = (interval - seconds).count() * 1'000'000};
  return ::sigtimedwait(&ends, nullptr, &length) < 0;
}

// Pids and ids, which name a process that is there now or none ever; a label may be one of the future.
bool name_present_processes(const View& view, const std::vector<std::string>& targets) {
  return !targets.empty() && std::all_of(targets.begin(), targets.end(), [&](const std::string& target) {
    return std::any_of(view.processes.begin(), view.processes.end(), [&](const ProcessView& process) {
      return segment::is_named({.id = process.id(), .label = {}, .pid = process.pid()}, target);
    });
  });
}

bool have_all_ended(const View& view) {
  return std::none_of(view.processes.begin(), view.processes.end(),
                      [](const ProcessView& process) { return process.is_alive(); });
}

void say_failures(BackgroundCommands& commands) {
  for (const std::string& failure : commands.look_after()) {
    warn("watch: " + failure);
  }
}

// What runs is let finish, unless a second signal says that it has been long enough.
void finish(BackgroundCommands& commands) {
  constexpr std::chrono::milliseconds kStep{50};
  say_failures(commands);
  while (!commands.is_idle() && wait_for(kStep)) {
    say_failures(commands);
  }
}

ExitCode run(const Arguments& arguments, const Context& context) {
  const Wish wish = read_wish(arguments);
  const BlockedSignals signals{SIGINT, SIGTERM, SIGHUP};
  BackgroundCommands commands{arguments.value("--on-oom").value_or("")};
  MemoryEvents watched{wish.above};
  View view = collect(context.directories);
  for (const std::string& target : wish.targets) {
    if (target.find_first_not_of("0123456789") == std::string::npos) {
      static_cast<void>(resolve_target(view, target));  // a process that isn't there won't come
    }
  }
  context.messages.note(
      fmt::format("watching {}; Ctrl-C ends it",
                  wish.targets.empty() ? "every process" : fmt::format("{}", fmt::join(wish.targets, ", "))));
  const bool can_end = name_present_processes(view, wish.targets);
  std::uint64_t told = 0;
  do {
    const View earlier = without_numbers(view);
    if (!wish.targets.empty()) {
      keep_only(view, wish.targets);
    }
    for (const MemoryEvent& event : watched.look(view)) {
      fmt::print("{}\n", wish.json ? json_of(event) : line_of(event));
      std::fflush(stdout);
      if (arguments.has("--on-oom")) {
        commands.add(variables_of(event));
      }
      if (++told == wish.count) {
        finish(commands);
        return ExitCode::Done;
      }
    }
    say_failures(commands);
    if (can_end && have_all_ended(view)) {
      context.messages.note("what was to be watched has ended");
      break;
    }
    if (!wait_for(wish.interval)) {
      break;
    }
    view = collect(context.directories, {.view = &earlier});
  } while (true);
  finish(commands);
  return ExitCode::Done;
}

}  // namespace

Command watch_command() {
  return {.syntax = {.name = "watch",
                     .operands = "TARGET...|--all",
                     .takes = Operands::Any,
                     .summary = "Tells of out-of-memories and high use as they happen, and runs a command for each.",
                     .examples = "  tidemark watch --all --on-oom 'logger -t oom \"$TIDEMARK_PID $TIDEMARK_DEVICE\"'\n"
                                 "  tidemark watch server --above 90% --on-oom 'tidemark snapshot \"$TIDEMARK_PID\"'\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
