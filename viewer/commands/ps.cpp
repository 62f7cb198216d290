// tidemark ps: processes and devices, one line each, once or again and again.
#include "viewer/commands/commands.hpp"
#include "viewer/duration_text.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/sort.hpp"
#include "viewer/model/target.hpp"
#include "viewer/model/tree.hpp"
#include "viewer/model/unpublished.hpp"
#include "viewer/node/node_watch.hpp"
#include "viewer/number_text.hpp"
#include "viewer/render/json.hpp"
#include "viewer/render/ps_text.hpp"
#include "viewer/terminal_width.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tidemark::viewer {
namespace {

constexpr std::chrono::milliseconds kShortestInterval{100};

constexpr std::array kOptions{
    OptionSpec{"--json", "", Takes::Nothing, "", "one JSON document with every counter"},
    OptionSpec{"--csv", "", Takes::Nothing, "", "comma-separated values with a header"},
    OptionSpec{"--tree", "", Takes::Nothing, "", "each process below the one that started it"},
    OptionSpec{"--sort", "-s", Takes::Value, "KEY",
               "started, allocated, peak, reserved, cached, held (largest device first) or rank"},
    OptionSpec{"--watch", "-w", Takes::Value, "SEC", "again and again, SEC apart; with --json one document a line"},
    OptionSpec{"--count", "-n", Takes::Value, "N", "with --watch: N times, then leave"},
};

std::string processes_have(std::size_t count) {
  return fmt::format("{} more {}", count, count == 1 ? "process has" : "processes have");
}

void add_notes_on(const Unpublished& unpublished, const Context& context) {
  if (unpublished.waiting > 0) {
    context.messages.note(fmt::format("{} the library and no allocation yet", processes_have(unpublished.waiting)));
  }
  if (unpublished.silent > 0) {
    context.messages.note(
        fmt::format("{} the library, but was told to publish nothing (TIDEMARK_MODE=off, TIDEMARK_SHM=off, "
                    "TIDEMARK_SKIP or run --no-children)",
                    processes_have(unpublished.silent)));
  }
  if (unpublished.elsewhere > 0) {
    constexpr std::size_t kMostNamed = 3;
    std::vector<std::string> names;
    for (const std::string& directory : unpublished.directories) {
      names.push_back(names.size() < kMostNamed ? clean_text(directory, terminal_charset()) : "...");
      if (names.size() > kMostNamed) {
        break;
      }
    }
    context.messages.note(fmt::format("{} the library and another TIDEMARK_DIR ({}), which --dir looks into",
                                      processes_have(unpublished.elsewhere), fmt::join(names, ", ")));
  }
}

void add_notes(const View& view, const Context& context, bool everything) {
  for (const SkippedSegment& skipped : view.skipped) {
    context.messages.note(fmt::format("{}: {}; skipped", skipped.path, skipped.reason));
  }
  if (!view.hidden.empty()) {
    context.messages.note(fmt::format("{} of other users not readable; as root they are", view.hidden.size()));
  }
  if (!everything || context.messages.quiet()) {
    return;
  }
  const Unpublished unpublished = find_unpublished(view, context.directories);
  add_notes_on(unpublished, context);
  if (unpublished.waiting == 0 && view.processes.empty() && view.hidden.empty()) {
    context.messages.note("nothing to show; start a program with: tidemark run -- CMD");
  }
}

enum class Form { Text, Tree, Json, Csv };

Form form_of(const Arguments& arguments) {
  if (arguments.has("--json") + arguments.has("--csv") + arguments.has("--tree") > 1) {
    throw Failure(ExitCode::Usage, "ps: --json, --csv or --tree, only one of them");
  }
  return arguments.has("--json")   ? Form::Json
         : arguments.has("--csv")  ? Form::Csv
         : arguments.has("--tree") ? Form::Tree
                                   : Form::Text;
}

struct Watch {
  std::optional<std::chrono::milliseconds> interval;  // none: look once
  std::uint64_t count = 0;                            // 0: for ever
};

Watch watch_of(const Arguments& arguments) {
  Watch watch;
  if (const auto text = arguments.value("--watch")) {
    watch.interval = parse_duration(*text);
    if (!watch.interval || *watch.interval < kShortestInterval) {
      throw Failure(ExitCode::Usage,
                    fmt::format("ps: --watch '{}'; allowed: 0.1 s and more, as {}", *text, kDurationForms));
    }
  }
  if (const auto text = arguments.value("--count")) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), watch.count);
    if (error != std::errc{} || end != text->data() + text->size() || watch.count == 0) {
      throw Failure(ExitCode::Usage, fmt::format("ps: --count '{}'; allowed: a whole number above 0", *text));
    }
    if (!watch.interval) {
      throw Failure(ExitCode::Usage, "ps: --count says how often to look, and needs --watch SEC");
    }
  }
  return watch;
}

// Flushed, and checked, where the program ends.
void put(std::string_view text) { fmt::print("{}", text); }

// What one look prints. `look` counts from 0.
void put_look(const View& view, Form form, const Watch& watch, std::uint64_t look) {
  if (form == Form::Json) {
    return write_ps_json(view, put);
  }
  if (form == Form::Csv) {
    return put(watch.interval ? ps_csv_look(view, look == 0) : ps_csv(view));
  }
  const std::string table = form == Form::Tree
                                ? ps_text(view, tree_of(parents_of(view)), terminal_charset(), terminal_width())
                                : ps_text(view, terminal_charset(), terminal_width());
  const std::string head =
      watch.interval ? fmt::format("{}{}\n", look == 0 ? "" : "\n", clock_text(view.time_ns, view.time_ns)) : "";
  put(head + table);
}

ExitCode run(const Arguments& arguments, const Context& context) {
  const Form form = form_of(arguments);
  const Watch watch = watch_of(arguments);
  const std::vector<std::string>& targets = arguments.operands();
  View last;  // of everything, for its open readers
  auto next = std::chrono::steady_clock::now();
  NodeWatch node;
  for (std::uint64_t look = 0;; ++look) {
    node.ask();
    View view = collect(context.directories, {.view = &last});
    if (watch.interval) {
      last = without_numbers(view);
    }
    node.answer_into(view);
    for (const std::string& target : targets) {
      if (look == 0) {
        (void)resolve_target(view, target);  // a word that names nothing is a failure, as everywhere
      }
    }
    if (!targets.empty()) {
      keep_only(view, targets);
    }
    if (const auto key = arguments.value("--sort")) {
      sort_processes(view, *key);
    }
    put_look(view, form, watch, look);
    if (look == 0 && (form == Form::Text || form == Form::Tree)) {
      sweep(context.directories);  // not in what scripts call: they pay for nothing but the look
      add_notes(view, context, targets.empty());
    }
    if (!watch.interval || look + 1 == watch.count || std::fflush(stdout) != 0) {
      return ExitCode::Done;
    }
    next = std::max(next + *watch.interval, std::chrono::steady_clock::now());
    std::this_thread::sleep_until(next);
  }
}

}  // namespace

Command ps_command() {
  return {.syntax = {.name = "ps",
                     .operands = "[TARGET...]",
                     .takes = Operands::Any,
                     .summary = "Lists processes and their devices.",
                     .examples = "  tidemark ps\n"
                                 "  tidemark ps --sort peak         which rank of a job needs most\n"
                                 "  tidemark ps --json | jq '.processes[].pid'\n"
                                 "  tidemark ps --csv --watch 1 --count 60 > minute.csv\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
