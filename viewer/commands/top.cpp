// tidemark top: the live view; `ps` with a hint where there is no terminal for it.
#include "viewer/commands/commands.hpp"
#include "viewer/duration_text.hpp"
#include "viewer/model/chore.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/departed.hpp"
#include "viewer/model/target.hpp"
#include "viewer/model/tree.hpp"
#include "viewer/model/unpublished.hpp"
#include "viewer/node/node_watch.hpp"
#include "viewer/tui/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <utility>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--interval", "-i", Takes::Value, "SEC", "time between looks (1 s; at least 0.1)"},
    OptionSpec{"--readonly", "", Takes::Nothing, "", "keys that act on programs are off"},
    OptionSpec{"--no-mouse", "", Takes::Nothing, "", "the mouse is the terminal's: for copying text"},
    OptionSpec{"--ascii", "", Takes::Nothing, "", "no characters beyond ASCII"},
};

constexpr std::chrono::milliseconds kShortestInterval{100};
constexpr std::chrono::minutes kLongestInterval{60};
// The dear parts of a look, which are put off further where they take long. Reading every process's maps:
constexpr std::chrono::seconds kWaitingEvery{10};
// ... their descriptors, and looking into containers:
constexpr std::chrono::seconds kSearchEvery{5};
constexpr std::chrono::seconds kSweepEvery{60};

std::chrono::milliseconds interval_of(const Arguments& arguments) {
  const auto text = arguments.value("--interval");
  if (!text) {
    return std::chrono::seconds{1};
  }
  const auto interval = parse_duration(*text);
  if (!interval || *interval < kShortestInterval || *interval > kLongestInterval) {
    throw Failure(ExitCode::Usage,
                  fmt::format("top: --interval '{}'; allowed: 0.1 s to 60 min, as {}", *text, kDurationForms));
  }
  return *interval;
}

// Every look; some of them also sweep long-dead segments away and count who has not allocated yet.
class Looker {
 public:
  Looker(std::vector<std::filesystem::path> directories, std::vector<std::string> targets)
      : directories_(std::move(directories)), targets_(std::move(targets)) {}

  Sample look(const Focus& focus) {
    const auto now = std::chrono::steady_clock::now();
    if (sweeps_.is_due(now)) {
      const ProcessorTime time;
      sweep(directories_);
      sweeps_.was_done(now, time.so_far());
    }
    node_.ask();
    Sample sample{.view = collect_now(now), .waiting = 0};
    View light = without_numbers(sample.view);
    departed_.add_to(sample.view, last_, now, focus.details_of);
    last_ = std::move(light);
    node_.answer_into(sample.view);
    if (counts_.is_due(now)) {
      const ProcessorTime time;
      waiting_ = find_unpublished(sample.view, directories_).waiting;
      counts_.was_done(now, time.so_far());
    }
    sample.waiting = waiting_;
    if (!targets_.empty()) {
      keep_only(sample.view, targets_);
      sample.waiting = 0;
    }
    for (ProcessView& process : sample.view.processes) {
      if (process.id() == focus.details_of) {
        read_details(process);
        read_recording(process);
      }
    }
    if (focus.parents) {
      sample.parents = parents_of(sample.view);
    }
    return sample;
  }

 private:
  View collect_now(Chore::Time now) {
    const bool everywhere = searches_.is_due(now);
    const ProcessorTime time;
    View view = collect(directories_, {.view = &last_, .looks_everywhere = everywhere, .is_glance = true});
    const std::chrono::nanoseconds took = time.so_far();
    if (everywhere) {
      searches_.was_done(now, std::max(took - usual_look_, std::chrono::nanoseconds{0}));
    } else {
      usual_look_ = took;
    }
    return view;
  }

  std::vector<std::filesystem::path> directories_;
  std::vector<std::string> targets_;
  View last_;  // of everything, for its open readers
  Departed departed_;
  NodeWatch node_;
  std::size_t waiting_ = 0;
  std::chrono::nanoseconds usual_look_{0};
  Chore searches_{kSearchEvery};
  Chore counts_{kWaitingEvery};
  Chore sweeps_{kSweepEvery};
};

ExitCode run(const Arguments& arguments, const Context& context) {
  LoopOptions options{.interval = interval_of(arguments),
                      .readonly = arguments.has("--readonly"),
                      .charset = arguments.has("--ascii") ? Charset::Ascii : terminal_charset()};
  options.graph = graph_glyphs(options.charset, std::getenv("TERM"));
  if (!arguments.operands().empty()) {
    View view = collect(context.directories);
    for (const std::string& target : arguments.operands()) {
      (void)resolve_target(view, target);  // a word that names nothing is told now, not as an empty screen
    }
  }
  Looker looker(context.directories, arguments.operands());
  int signal = 0;
  {
    const std::unique_ptr<Terminal> terminal = Terminal::open(!arguments.has("--no-mouse"));
    if (terminal == nullptr) {
      context.messages.note("top needs a terminal that TERM names; this is ps");
      std::vector<std::string> words = arguments.operands();
      const Command ps = ps_command();
      return ps.run(parse_arguments(ps.syntax, words), context);
    }
    signal = run_loop(
        *terminal, [&looker](const Focus& focus) { return looker.look(focus); }, options);
  }
  if (signal != 0) {
    raise(signal);  // the terminal is back; the shell sees what ended us
  }
  return ExitCode::Done;
}

}  // namespace

Command top_command() {
  return {.syntax = {.name = "top",
                     .operands = "[TARGET...]",
                     .takes = Operands::Any,
                     .summary = "Watches processes and devices live; ? lists the keys.",
                     .examples = "  tidemark top\n"
                                 "  tidemark top -i 0.5 4711\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
