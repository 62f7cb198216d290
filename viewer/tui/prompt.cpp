#include "viewer/tui/prompt.hpp"

#include "viewer/clean_text.hpp"

#include <fmt/format.h>

#include <vector>

namespace tidemark::viewer {
namespace {

constexpr char32_t kClearLine = 21;  // Ctrl-U

std::vector<Row> rows_now(const UiState& state, const Sample& sample) {
  return rows_of(sample.view, state.choice, sample.parents);
}

void say_nothing_has(UiState& state) {
  state.message = fmt::format("no row has '{}' in it", state.search);
  state.message_is_error = true;
}

// Does the prompt's text change? Then it does.
bool edit(std::u32string& text, const KeyPress& press) {
  if (press.code == KeyCode::Backspace && !text.empty()) {
    text.pop_back();
    return true;
  }
  if (press == character(kClearLine)) {
    text.clear();
    return true;
  }
  if (press.code == KeyCode::Character && press.character >= U' ') {
    text += press.character;
    return true;
  }
  return false;
}

void apply(UiState& state, const Sample& sample, std::size_t window) {
  const Prompt& prompt = *state.prompt;
  const std::string text = encode_utf8(prompt.text);
  if (prompt.kind == Prompt::Kind::Filter) {
    state.choice.filter = text;
    move_selection(state, rows_now(state, sample), 0, window);
    return;
  }
  const std::vector<Row> rows = rows_now(state, sample);
  const std::size_t origin = index_of(rows, prompt.origin).value_or(0);
  const auto found = text.empty() ? std::nullopt : find_row(rows, text, origin, Direction::Forward);
  select_row(state, rows, found.value_or(origin), window);
}

void keep(UiState& state, const Sample& sample) {
  const Prompt prompt = *state.prompt;
  state.prompt.reset();
  if (prompt.kind == Prompt::Kind::Search) {
    state.search = encode_utf8(prompt.text);
    if (!state.search.empty() && !find_row(rows_now(state, sample), state.search, 0, Direction::Forward)) {
      say_nothing_has(state);
    }
  }
}

void take_back(UiState& state, const Sample& sample, std::size_t window) {
  const Prompt prompt = *state.prompt;
  state.prompt.reset();
  if (prompt.kind == Prompt::Kind::Filter) {
    state.choice.filter = prompt.before;
  }
  state.selected = prompt.origin;
  move_selection(state, rows_now(state, sample), 0, window);
}

}  // namespace

void open_prompt(UiState& state, Prompt::Kind kind) {
  state.prompt = Prompt{.kind = kind,
                        .text = kind == Prompt::Kind::Filter ? decode_utf8(state.choice.filter) : std::u32string{},
                        .before = state.choice.filter,
                        .origin = state.selected};
}

void type_in_prompt(UiState& state, const Sample& sample, const KeyPress& press, std::size_t window) {
  if (press.code == KeyCode::Enter) {
    keep(state, sample);
  } else if (press.code == KeyCode::Escape) {
    take_back(state, sample, window);
  } else if (edit(state.prompt->text, press)) {
    apply(state, sample, window);
  }
}

void find_next(UiState& state, const Sample& sample, Direction direction, std::size_t window) {
  const std::vector<Row> rows = rows_now(state, sample);
  if (state.search.empty() || rows.empty()) {
    state.message = "nothing was searched for yet: /";
    return;
  }
  const std::size_t here = index_of(rows, state.selected).value_or(0);
  const std::size_t from = direction == Direction::Forward ? here + 1 : here + rows.size() - 1;
  if (const auto found = find_row(rows, state.search, from % rows.size(), direction)) {
    select_row(state, rows, *found, window);
  } else {
    say_nothing_has(state);
  }
}

}  // namespace tidemark::viewer
