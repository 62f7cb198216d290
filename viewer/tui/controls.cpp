#include "viewer/tui/controls.hpp"

#include "viewer/tui/columns.hpp"
#include "viewer/tui/dashboard.hpp"
#include "viewer/tui/footer.hpp"
#include "viewer/tui/layout.hpp"
#include "viewer/tui/prompt.hpp"
#include "viewer/tui/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tidemark::viewer {
namespace {

using std::chrono::milliseconds;

constexpr std::array kIntervals{milliseconds{100},   milliseconds{200},   milliseconds{500},
                                milliseconds{1000},  milliseconds{2000},  milliseconds{5000},
                                milliseconds{10000}, milliseconds{30000}, milliseconds{60000}};
constexpr std::ptrdiff_t kAll = 1 << 20;

milliseconds slower(milliseconds interval) {
  const auto* next = std::upper_bound(kIntervals.begin(), kIntervals.end(), interval);
  return next == kIntervals.end() ? interval : *next;
}

milliseconds faster(milliseconds interval) {
  const auto* at = std::lower_bound(kIntervals.begin(), kIntervals.end(), interval);
  return at == kIntervals.begin() ? interval : *(at - 1);
}

class Controls {
 public:
  Controls(UiState& state, const Sample& sample, Size size) : state_(state), sample_(sample), size_(size) {}

  Errand take(const KeyPress& press) {
    if (press.code == KeyCode::None) {
      return {};
    }
    if (state_.question) {
      return answer(press);
    }
    if (state_.prompt) {
      type_in_prompt(state_, sample_, press, window());
      return {};
    }
    if (press.code == KeyCode::Click) {
      return click(press);
    }
    if (press.code == KeyCode::WheelUp || press.code == KeyCode::WheelDown) {
      constexpr std::ptrdiff_t kWheelRows = 3;
      move(press.code == KeyCode::WheelUp ? -kWheelRows : kWheelRows);
      return {};
    }
    const auto action = action_of(press);
    return action ? obey(*action) : Errand{};
  }

 private:
  [[nodiscard]] std::vector<Row> rows() const { return rows_of(sample_.view, state_.choice, sample_.parents); }
  [[nodiscard]] std::size_t window() const { return visible_rows(sample_.view, size_); }

  void say(std::string message, bool is_error = false) {
    state_.message = std::move(message);
    state_.message_is_error = is_error;
  }

  // Every key takes the last message away.
  Errand obey(KeyAction action) {
    say("");
    switch (action) {
      case KeyAction::Quit:
        return {.kind = Errand::Kind::Leave};
      case KeyAction::Redraw:
        return {.kind = Errand::Kind::Redraw};
      case KeyAction::ResetPeak:
        return act(Deed::ResetPeak);
      case KeyAction::EmptyCache:
        return act(Deed::EmptyCache);
      case KeyAction::MarkPeak:
        return mark();
      case KeyAction::Help:
        state_.help = !state_.help;
        state_.scroll = 0;
        break;
      case KeyAction::Details:
        open_details();
        break;
      case KeyAction::Devices:
        state_.devices = !state_.devices || state_.detail || state_.help;
        state_.help = false;
        state_.detail.reset();
        state_.scroll = 0;
        break;
      case KeyAction::Close:
        close();
        break;
      case KeyAction::Filter:
        prompt_for(Prompt::Kind::Filter);
        break;
      case KeyAction::Search:
        prompt_for(Prompt::Kind::Search);
        break;
      case KeyAction::NextMatch:
        find_next(state_, sample_, Direction::Forward, window());
        break;
      case KeyAction::PreviousMatch:
        find_next(state_, sample_, Direction::Backward, window());
        break;
      case KeyAction::SortNext:
        sort(1);
        break;
      case KeyAction::SortPrevious:
        sort(-1);
        break;
      case KeyAction::Invert:
        state_.choice.inverted = !state_.choice.inverted;
        keep_selection();
        break;
      case KeyAction::Tree:
        state_.choice.tree = !state_.choice.tree;
        keep_selection();
        break;
      case KeyAction::Tag:
        tag();
        break;
      case KeyAction::Untag:
        state_.tags.clear();
        break;
      case KeyAction::Pause:
        state_.paused = !state_.paused;
        break;
      case KeyAction::Faster:
        state_.interval = faster(state_.interval);
        break;
      case KeyAction::Slower:
        state_.interval = slower(state_.interval);
        break;
      case KeyAction::Up:
        move(-1);
        break;
      case KeyAction::Down:
        move(1);
        break;
      case KeyAction::PageUp:
        move_page(-1);
        break;
      case KeyAction::PageDown:
        move_page(1);
        break;
      case KeyAction::First:
        move(-kAll);
        break;
      case KeyAction::Last:
        move(kAll);
        break;
    }
    return {};
  }

  // On a key of the footer, a title of the table, or a row.
  Errand click(const KeyPress& press) {
    if (press.row == size_.rows - 1) {
      for (const FooterItem& item : footer_keys(state_, size_.columns)) {
        const int end = item.column + static_cast<int>(item.text.size());
        if (item.action && press.column >= item.column && press.column < end) {
          return obey(*item.action);
        }
      }
      say("");
      return {};
    }
    if (page_on_top(sample_, state_, size_)) {
      return {};
    }
    const Layout layout = layout_of(node_devices(sample_.view).size(), size_);
    if (press.row == layout.table_top) {
      sort_by_title_at(press.column);
    } else if (press.row > layout.table_top && press.row <= layout.table_top + layout.table_rows) {
      const std::size_t index = state_.first_row + static_cast<std::size_t>(press.row - layout.table_top - 1);
      if (const std::vector<Row> all = rows(); index < all.size()) {
        select_row(state_, all, index, window());
      }
    }
    return {};
  }

  void sort_by_title_at(int column) {
    for (const PlacedColumn& place : columns_for(size_.columns)) {
      if (column >= place.at && column < place.at + place.width) {
        state_.choice.inverted = state_.choice.sort == place.id && !state_.choice.inverted;
        state_.choice.sort = place.id;
        state_.choice.tree = false;
        keep_selection();
      }
    }
  }

  void keep_selection() { move_selection(state_, rows(), 0, window()); }

  void move_page(std::ptrdiff_t by) {
    const bool is_page = page_on_top(sample_, state_, size_).has_value();
    move(by * (is_page ? static_cast<std::ptrdiff_t>(page_rows(size_)) : static_cast<std::ptrdiff_t>(window())));
  }

  // The selection, or what of a page is seen.
  void move(std::ptrdiff_t by) {
    if (const auto page = page_on_top(sample_, state_, size_)) {
      const auto furthest = static_cast<std::ptrdiff_t>(furthest_scroll(*page, page_rows(size_)));
      const auto from = std::min(static_cast<std::ptrdiff_t>(state_.scroll), furthest);
      state_.scroll = static_cast<std::size_t>(std::clamp(from + by, std::ptrdiff_t{0}, furthest));
      return;
    }
    move_selection(state_, rows(), by, window());
  }

  void open_details() {
    if (!page_on_top(sample_, state_, size_) && !state_.selected.id.empty()) {
      state_.detail = state_.selected;
      state_.scroll = 0;
    }
  }

  // What is on top, a layer at a time.
  void close() {
    state_.scroll = 0;
    if (state_.help) {
      state_.help = false;
    } else if (state_.detail) {
      state_.detail.reset();
    } else if (state_.devices) {
      state_.devices = false;
    } else if (!state_.choice.filter.empty()) {
      state_.choice.filter.clear();
      keep_selection();
    }
  }

  // Through the columns that are seen; behind the last comes the order of their beginnings.
  void sort(int step) {
    const std::vector<PlacedColumn> columns = columns_for(size_.columns);
    const auto here = std::find_if(columns.begin(), columns.end(),
                                   [&](const PlacedColumn& place) { return state_.choice.sort == place.id; });
    const auto places = static_cast<int>(columns.size()) + 1;
    const int next = (static_cast<int>(here - columns.begin()) + step + places) % places;
    state_.choice.inverted = false;
    state_.choice.tree = false;
    if (next + 1 == places) {
      state_.choice.sort.reset();
      say("in the order of their first allocations");
    } else {
      const Column& column = column_of(columns[static_cast<std::size_t>(next)].id);
      state_.choice.sort = column.id;
      say(fmt::format("sorted by {}: {}", column.title, column.meaning));
    }
    keep_selection();
  }

  void tag() {
    if (!state_.selected.id.empty() && state_.tags.erase(state_.selected) == 0) {
      state_.tags.insert(state_.selected);
    }
    move(1);
  }

  // What is typed changes the table, so that is what has to be seen.
  void prompt_for(Prompt::Kind kind) {
    state_.help = state_.devices = false;
    state_.detail.reset();
    open_prompt(state_, kind);
  }

  Errand mark() {
    std::vector<RowKey> chosen = chosen_rows(state_, sample_.view);
    if (chosen.empty()) {
      return {};
    }
    say("marking ...");
    return {.kind = Errand::Kind::MarkPeak, .rows = std::move(chosen)};
  }

  // The peaks of one row are reset at once, as by the command. An emptied cache has to be asked of the driver again,
  // and the peaks of many rows are many people's: neither is for a slip of the finger.
  Errand act(Deed deed) {
    if (state_.readonly) {
      say("--readonly: nothing is changed");
      return {};
    }
    std::vector<RowKey> chosen = chosen_rows(state_, sample_.view);
    if (chosen.empty()) {
      return {};
    }
    std::string whose = name_of(chosen);
    Question question{.deed = deed, .rows = std::move(chosen), .whose = std::move(whose)};
    if (deed == Deed::ResetPeak && question.rows.size() == 1) {
      return go(question);
    }
    state_.question = std::move(question);
    return {};
  }

  [[nodiscard]] std::string name_of(const std::vector<RowKey>& chosen) const {
    if (chosen.size() > 1) {
      return fmt::format("{} rows", chosen.size());
    }
    const std::vector<Row> all = rows_of(sample_.view);
    const Row& row = all[index_of(all, chosen.front()).value_or(0)];
    return row.device == nullptr ? fmt::format("{}", row.process->pid())
                                 : fmt::format("{} {}", row.process->pid(), row.device->name);
  }

  Errand answer(const KeyPress& press) {
    const Question question = *state_.question;
    state_.question.reset();
    if (press != character(U'y') && press != character(U'Y')) {
      say(question.deed == Deed::ResetPeak ? "nothing was reset" : "nothing was given back");
      return {};
    }
    return go(question);
  }

  Errand go(const Question& question) {
    say(question.deed == Deed::ResetPeak ? "resetting ..." : "emptying ...");
    return {.kind = question.deed == Deed::ResetPeak ? Errand::Kind::ResetPeak : Errand::Kind::EmptyCache,
            .rows = question.rows};
  }

  UiState& state_;
  const Sample& sample_;
  Size size_;
};

}  // namespace

Errand take_key(UiState& state, const Sample& sample, const KeyPress& press, Size size) {
  return Controls(state, sample, size).take(press);
}

void take_sample(UiState& state, const Sample& sample, Size size) {
  drop_lost_tags(state, sample.view);
  move_selection(state, rows_of(sample.view, state.choice, sample.parents), 0, visible_rows(sample.view, size));
}

}  // namespace tidemark::viewer
