// What can stand where on a command's line, as completion wants to know it: read from the tables that help prints.
// Pure.
#pragma once

#include "viewer/context.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

// One place for a word that is no option.
struct Place {
  std::vector<std::string_view> words{};  // any of these, or what follows
  bool target = false;
  bool dead = false;     // a dead process as well: there is something to tell of it
  bool file = false;     // a saved snapshot is as good as a process
  bool command = false;  // one of ours
  bool repeats = false;  // so is every later one
};
// From "start|stop TARGET...": the first place has two words, every other one is for a target.
[[nodiscard]] std::vector<Place> places_of(const CommandSyntax& command);

enum class ProgramPlace { None, Anywhere, BehindDashes };
[[nodiscard]] ProgramPlace program_place_of(const CommandSyntax& command);

// Words between blanks, or with an at sign what the shell finds by itself: "@directory", "@file".
[[nodiscard]] std::string_view values_of(const OptionSpec& option);

// "run top ps"
[[nodiscard]] std::string names_of(std::span<const Command> commands);

// The names of all options that have the next word for their value, between blanks; both forms of each.
[[nodiscard]] std::string valued_options_of(const CommandSyntax& command);

}  // namespace tidemark::viewer
