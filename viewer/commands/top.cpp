// tidemark top: the live view; `ps` with a hint where there is no terminal for it.
#include "viewer/commands/commands.hpp"
#include "viewer/duration_text.hpp"
#include "viewer/model/collect.hpp"
#include "viewer/model/target.hpp"
#include "viewer/tui/loop.hpp"

#include <fmt/format.h>

#include <array>
#include <csignal>
#include <utility>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--interval", "-i", Takes::Value, "SEC", "time between looks (1 s; at least 0.1)"},
    OptionSpec{"--readonly", "", Takes::Nothing, "", "keys that act on programs are off"},
    OptionSpec{"--ascii", "", Takes::Nothing, "", "no characters beyond ASCII"},
};

constexpr std::chrono::milliseconds kShortestInterval{100};
constexpr std::chrono::minutes kLongestInterval{60};
// Reading every process's maps is the dear part of a look, and what it finds changes slowly.
constexpr std::chrono::seconds kWaitingEvery{10};
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

  Sample look() {
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_sweep_) {
      sweep(directories_);
      next_sweep_ = now + kSweepEvery;
    }
    Sample sample{.view = collect(directories_), .waiting = 0};
    if (now >= next_count_) {
      waiting_ = count_waiting(sample.view);
      next_count_ = now + kWaitingEvery;
    }
    sample.waiting = waiting_;
    if (!targets_.empty()) {
      keep_only(sample.view, targets_);
      sample.waiting = 0;
    }
    return sample;
  }

 private:
  std::vector<std::filesystem::path> directories_;
  std::vector<std::string> targets_;
  std::size_t waiting_ = 0;
  std::chrono::steady_clock::time_point next_count_{};
  std::chrono::steady_clock::time_point next_sweep_{};
};

ExitCode run(const Arguments& arguments, const Context& context) {
  LoopOptions options{.interval = interval_of(arguments),
                      .readonly = arguments.has("--readonly"),
                      .charset = arguments.has("--ascii") ? Charset::Ascii : terminal_charset()};
  if (!arguments.operands().empty()) {
    View view = collect(context.directories);
    for (const std::string& target : arguments.operands()) {
      (void)resolve_target(view, target);  // a word that names nothing is told now, not as an empty screen
    }
  }
  Looker looker(context.directories, arguments.operands());
  int signal = 0;
  {
    const std::unique_ptr<Terminal> terminal = Terminal::open();
    if (terminal == nullptr) {
      context.messages.note("top needs a terminal that TERM names; this is ps");
      std::vector<std::string> words = arguments.operands();
      const Command ps = ps_command();
      return ps.run(parse_arguments(ps.syntax, words), context);
    }
    signal = run_loop(
        *terminal, [&looker] { return looker.look(); }, options);
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
