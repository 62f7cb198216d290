#include "viewer/tui/loop.hpp"

#include "viewer/tui/controls.hpp"
#include "viewer/tui/dashboard.hpp"
#include "viewer/tui/history.hpp"
#include "viewer/tui/marks.hpp"
#include "viewer/tui/row_actions.hpp"
#include "viewer/tui/sampler.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace tidemark::viewer {
namespace {

using std::chrono::milliseconds;

std::uint64_t monotonic_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

class Loop {
 public:
  Loop(Terminal& terminal, LookAround look, const LoopOptions& options)
      : terminal_(terminal),
        look_(std::move(look)),
        sampler_([this](const Focus& focus, milliseconds interval) { return look_around(focus, interval); },
                 options.interval, [this] { terminal_.wake(); }) {
    state_.interval = options.interval;
    state_.readonly = options.readonly;
    state_.charset = options.charset;
    state_.graph = options.graph;
  }

  int run() {
    for (;;) {
      take_news();
      terminal_.show(draw_dashboard(*sample_, history_.of(state_.selected), state_, terminal_.size()));
      const KeyPress press = terminal_.wait(std::chrono::seconds{60});
      if (const int signal = terminal_.ending_signal(); signal != 0) {
        return signal;
      }
      if (press.code == KeyCode::Resize) {
        terminal_.forget_screen();
      } else if (!run_errand_of(press)) {
        return 0;
      }
    }
  }

 private:
  // In the sampler's thread, as everything about marks.
  Sample look_around(const Focus& focus, milliseconds interval) {
    Sample sample = look_(focus);
    sample.looked_at_ns = monotonic_ns();
    sample.marks = marks_.read();
    history_.note(sample.view, sample.looked_at_ns, interval);
    return sample;
  }

  void take_news() {
    if (auto fresh = sampler_.newest(); fresh && !state_.paused) {
      sample_ = std::move(fresh);
    }
    if (auto effect = sampler_.take_effect()) {
      state_.message = std::move(effect->text);
      state_.message_is_error = effect->failed;
    }
    take_sample(state_, *sample_, terminal_.size());
  }

  // False: leave.
  bool run_errand_of(const KeyPress& press) {
    Errand errand = take_key(state_, *sample_, press, terminal_.size());
    sampler_.set_interval(state_.interval);
    sampler_.set_focus({.parents = state_.choice.tree, .details_of = state_.detail ? state_.detail->id : ""});
    switch (errand.kind) {
      case Errand::Kind::Leave:
        return false;
      case Errand::Kind::Redraw:
        terminal_.forget_screen();
        break;
      case Errand::Kind::None:
        break;
      default:
        sampler_.order(
            [this, errand = std::move(errand)](const View& view) { return run_errand(view, errand, marks_); });
    }
    return true;
  }

  Terminal& terminal_;
  UiState state_;
  std::shared_ptr<const Sample> sample_ = std::make_shared<const Sample>();
  LookAround look_;  // the sampler's thread's
  Marks marks_;      // the same
  History history_;
  Sampler sampler_;
};

}  // namespace

int run_loop(Terminal& terminal, const LookAround& look, const LoopOptions& options) {
  return Loop(terminal, look, options).run();
}

}  // namespace tidemark::viewer
