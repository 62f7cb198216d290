#include "viewer/tui/footer.hpp"

#include "viewer/clean_text.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace tidemark::viewer {
namespace {

// The answers have to be seen, in however few words.
void draw_question(Canvas& canvas, const Question& question, int row) {
  const std::string text = question.deed == Deed::ResetPeak
                               ? fmt::format("reset the peaks of {}?", question.whose)
                               : fmt::format("give the cached memory of {} back?", question.whose);
  constexpr std::string_view kAnswers = " y: yes, any other key: no";
  constexpr std::string_view kShort = " y/N";
  const auto room = static_cast<std::size_t>(canvas.size().columns);
  const std::string_view answers = text.size() + kAnswers.size() <= room ? kAnswers : kShort;
  const int end = canvas.put(0, row, text, Style::Bold, canvas.size().columns - static_cast<int>(answers.size()));
  canvas.put(end, row, answers, Style::Bold);
}

// The end of what is typed has to be seen, not its beginning.
void draw_prompt(Canvas& canvas, const Prompt& prompt, int row) {
  const int at = canvas.put(0, row, prompt.kind == Prompt::Kind::Filter ? "filter: " : "search: ", Style::Bold);
  std::u32string text = clean_points(encode_utf8(prompt.text), canvas.charset());
  const int room = canvas.size().columns - at - 1;
  while (!text.empty() && static_cast<int>(columns_of(text)) > room) {
    text.erase(0, 1);
  }
  canvas.put_glyph(canvas.put(at, row, encode_utf8(text)), row, U' ', Style::Selected);
}

bool is_for_table(const KeyBinding& binding, const UiState& state) {
  return !binding.footer.empty() && !(acts(binding.action) && state.readonly);
}

bool is_for_page(const KeyBinding& binding, const UiState& state) {
  const bool is_for_a_row = acts(binding.action) || binding.action == KeyAction::MarkPeak;
  const bool is_for_every_page = binding.action == KeyAction::Quit || binding.action == KeyAction::Pause;
  return is_for_table(binding, state) && (is_for_every_page || (is_for_a_row && state.detail && !state.help));
}

}  // namespace

std::vector<FooterItem> footer_keys(const UiState& state, int width) {
  std::vector<FooterItem> keys;
  if (state.prompt || state.question || !state.message.empty()) {
    return keys;
  }
  int at = 0;
  const auto add = [&](std::string text, std::optional<KeyAction> action) {
    const auto columns = static_cast<int>(text.size());
    if (at + columns <= width) {
      keys.push_back({.column = at, .text = std::move(text), .action = action});
    }
    at += columns + 2;
  };
  const bool is_page = state.help || state.detail || state.devices;
  if (is_page) {
    add("Esc back", KeyAction::Close);
    add("Up Down PgUp PgDn scroll", std::nullopt);
  }
  for (const KeyBinding& binding : kKeyBindings) {
    if (is_page ? is_for_page(binding, state) : is_for_table(binding, state)) {
      add(fmt::format("{} {}", binding.name, binding.footer), binding.action);
    }
  }
  return keys;
}

void draw_footer(Canvas& canvas, const UiState& state, int row) {
  if (state.prompt) {
    draw_prompt(canvas, *state.prompt, row);
  } else if (state.question) {
    draw_question(canvas, *state.question, row);
  } else if (!state.message.empty()) {
    canvas.put(0, row, state.message, state.message_is_error ? Style::Alarm : Style::Bold);
  } else {
    for (const FooterItem& item : footer_keys(state, canvas.size().columns)) {
      canvas.put(item.column, row, item.text, Style::Dim);
    }
  }
}

}  // namespace tidemark::viewer
