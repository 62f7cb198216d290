#include "viewer/render/completion_places.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::viewer {
namespace {

// Up to the separator; takes both away.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

bool take_end(std::string_view& text, std::string_view end) {
  const bool is_there = text.ends_with(end);
  text.remove_suffix(is_there ? end.size() : 0);
  return is_there;
}

// "TARGET...|--all", "SIZE|none": what is written small is typed so, the rest names what it stands for.
Place place_of(std::string_view text) {
  Place place;
  while (!text.empty()) {
    std::string_view word = cut(text, '|');
    place.repeats |= take_end(word, "...");
    const bool is_snapshot = word == "OLD" || word == "NEW";
    place.target |= is_snapshot || word == "TARGET";
    place.file |= is_snapshot || word == "FILE";
    place.command |= word == "COMMAND";
    if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos) {
      place.words.push_back(word);
    }
  }
  return place;
}

}  // namespace

std::vector<Place> places_of(const CommandSyntax& command) {
  std::vector<Place> places;
  std::string_view rest = command.operands;
  while (!rest.empty()) {
    std::string_view word = cut(rest, ' ');
    if (word.starts_with('[')) {
      word.remove_prefix(1);
      take_end(word, "]");
    }
    if (word == "--") {
      break;  // from here on it is a program's
    }
    Place place = place_of(word);
    place.dead = place.target && (place.file || command.name == "show" || command.name == "ps");
    places.push_back(std::move(place));
  }
  return places;
}

ProgramPlace program_place_of(const CommandSyntax& command) {
  switch (command.takes) {
    case Operands::Program:
      return ProgramPlace::Anywhere;
    case Operands::OneAndProgram:
    case Operands::OneOrProgram:
      return ProgramPlace::BehindDashes;
    case Operands::None:
    case Operands::One:
    case Operands::Any:
      break;
  }
  return ProgramPlace::None;
}

std::string_view values_of(const OptionSpec& option) {
  return option.value_name == "DIR" ? "@directory" : option.value_name == "FILE" ? "@file" : option.words;
}

std::string names_of(std::span<const Command> commands) {
  std::vector<std::string_view> names;
  for (const Command& command : commands) {
    names.push_back(command.syntax.name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::string valued_options_of(const CommandSyntax& command) {
  std::vector<std::string_view> names;
  for (const OptionSpec& option : options_of(command)) {
    for (const std::string_view name : {option.name, option.short_name}) {
      if (option.takes == Takes::Value && !name.empty()) {
        names.push_back(name);
      }
    }
  }
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace tidemark::viewer
