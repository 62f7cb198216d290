#include "viewer/tui/loop.hpp"

#include "viewer/model/act.hpp"
#include "viewer/size_text.hpp"
#include "viewer/tui/dashboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tidemark::viewer {
namespace {

using std::chrono::milliseconds;

constexpr std::array kIntervals{milliseconds{100},   milliseconds{200},   milliseconds{500},
                                milliseconds{1000},  milliseconds{2000},  milliseconds{5000},
                                milliseconds{10000}, milliseconds{30000}, milliseconds{60000}};

milliseconds slower(milliseconds interval) {
  const auto* next = std::upper_bound(kIntervals.begin(), kIntervals.end(), interval);
  return next == kIntervals.end() ? interval : *next;
}

milliseconds faster(milliseconds interval) {
  const auto* at = std::lower_bound(kIntervals.begin(), kIntervals.end(), interval);
  return at == kIntervals.begin() ? interval : *(at - 1);
}

Sampler::Effect reset_peak(const View& view, const RowKey& key) {
  for (const ProcessView& process : view.processes) {
    if (process.id() != key.id) {
      continue;
    }
    const Action action{.operation = control::Operation::ResetPeak, .device = key.device.empty() ? "all" : key.device};
    const ProcessOutcome outcome = act_on(process, action);
    const DeviceOutcome& device = outcome.devices.front();
    if (device.result.status != "done") {
      return {.text = fmt::format("{} {}: {}: {}", process.pid(), device.result.device, device.result.status,
                                  device.result.detail),
              .failed = true};
    }
    return {.text = fmt::format("{} {}: peak {} -> {} (allocated now)", process.pid(), device.result.device,
                                size_words(device.before.allocated_peak), size_words(device.after.allocated_peak)),
            .failed = false};
  }
  return {.text = "that process is gone", .failed = true};
}

class Loop {
 public:
  Loop(Terminal& terminal, const Sampler::Look& look, const LoopOptions& options)
      : terminal_(terminal), charset_(options.charset), sampler_(look, options.interval, [this] { terminal_.wake(); }) {
    state_.interval = options.interval;
    state_.readonly = options.readonly;
  }

  int run() {
    for (;;) {
      take_news();
      terminal_.show(draw_dashboard(sample_->view, state_, terminal_.size(), charset_));
      const KeyPress key = terminal_.wait(std::chrono::seconds{60});
      if (const int signal = terminal_.ending_signal(); signal != 0) {
        return signal;
      }
      if (key.code == KeyCode::Resize) {
        terminal_.forget_screen();
      } else if (const auto action = action_of(key); action && !obey(*action)) {
        return 0;
      }
    }
  }

 private:
  void take_news() {
    if (auto fresh = sampler_.newest()) {
      sample_ = std::move(fresh);
      state_.waiting = sample_->waiting;
    }
    if (auto effect = sampler_.take_effect()) {
      state_.message = std::move(effect->text);
      state_.message_is_error = effect->failed;
    }
    move_selection(state_, sample_->view, 0, terminal_.size());
  }

  void move(std::ptrdiff_t by) { move_selection(state_, sample_->view, by, terminal_.size()); }

  void set_interval(milliseconds interval) {
    state_.interval = interval;
    sampler_.set_interval(interval);
  }

  // False: leave. Every key takes the last message away.
  bool obey(KeyAction action) {
    const auto page = static_cast<std::ptrdiff_t>(visible_rows(sample_->view, terminal_.size()));
    constexpr std::ptrdiff_t kAll = 1 << 20;
    state_.message.clear();
    switch (action) {
      case KeyAction::Quit:
        return false;
      case KeyAction::Close:
        state_.help = false;
        break;
      case KeyAction::Help:
        state_.help = !state_.help;
        break;
      case KeyAction::Redraw:
        terminal_.forget_screen();
        break;
      case KeyAction::ResetPeak:
        order_reset();
        break;
      case KeyAction::Up:
        move(-1);
        break;
      case KeyAction::Down:
        move(1);
        break;
      case KeyAction::PageUp:
        move(-page);
        break;
      case KeyAction::PageDown:
        move(page);
        break;
      case KeyAction::First:
        move(-kAll);
        break;
      case KeyAction::Last:
        move(kAll);
        break;
      case KeyAction::Faster:
        set_interval(faster(state_.interval));
        break;
      case KeyAction::Slower:
        set_interval(slower(state_.interval));
        break;
    }
    return true;
  }

  void order_reset() {
    if (state_.readonly) {
      state_.message = "--readonly: nothing is changed";
      return;
    }
    if (state_.selected.id.empty()) {
      return;
    }
    state_.message = "resetting ...";
    state_.message_is_error = false;
    sampler_.order([key = state_.selected](const View& view) { return reset_peak(view, key); });
  }

  Terminal& terminal_;
  Charset charset_;
  DashboardState state_;
  std::shared_ptr<const Sample> sample_ = std::make_shared<const Sample>();
  Sampler sampler_;
};

}  // namespace

int run_loop(Terminal& terminal, const Sampler::Look& look, const LoopOptions& options) {
  return Loop(terminal, look, options).run();
}

}  // namespace tidemark::viewer
