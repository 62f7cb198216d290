#include "viewer/render/completion_places.hpp"
#include "viewer/render/completion_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tidemark::viewer {
namespace {

// Inside single quotes, and inside the brackets or colons of _arguments.
std::string zsh_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') {
      escaped += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

std::string value_action(const OptionSpec& option) {
  const std::string_view values = values_of(option);
  return values == "@directory" ? "_files -/"
         : values == "@file"    ? "_files"
         : values.empty()       ? " "
                                : fmt::format("({})", values);
}

std::string option_spec(const OptionSpec& option, std::string_view name) {
  switch (option.takes) {
    case Takes::Nothing:
      return fmt::format("'*{}[{}]'", name, zsh_text(option.help));
    case Takes::Value:
      // "--mode=count" and "--mode count"; a short one has its value behind it.
      return fmt::format("'*{}{}[{}]:{}:{}'", name, name.starts_with("--") ? "=" : "", zsh_text(option.help),
                         zsh_text(option.value_name), value_action(option));
    case Takes::OptionalValue:
      return fmt::format("'*{}=-[{}]::{}:{}'", name, zsh_text(option.help), zsh_text(option.value_name),
                         value_action(option));
  }
  return "";
}

std::string place_action(const Place& place) {
  return place.target && place.file ? "target:_tidemark_targets_and_files"
         : place.target             ? "target:_tidemark_targets"
         : place.command            ? "command:_tidemark_commands"
                                    : fmt::format(" :({})", fmt::join(place.words, " "));
}

std::string places_spec(const CommandSyntax& command) {
  std::string spec;
  int number = 0;
  for (const Place& place : places_of(command)) {
    ++number;
    spec += fmt::format(" \\\n        '{}:{}'", place.repeats ? "*" : fmt::format("{}", number), place_action(place));
  }
  if (program_place_of(command) == ProgramPlace::Anywhere) {
    spec += " \\\n        '(-)*:::program: _normal'";  // from its name on no option is ours
  }
  return spec;
}

bool takes_dead(const CommandSyntax& command) {
  const std::vector<Place> places = places_of(command);
  return std::any_of(places.begin(), places.end(), [](const Place& place) { return place.dead; });
}

}  // namespace

std::string zsh_completion(std::span<const Command> commands) {
  std::string names;
  std::string cases;
  std::vector<std::string_view> dead;
  for (const Command& command : commands) {
    const CommandSyntax& syntax = command.syntax;
    if (takes_dead(syntax)) {
      dead.push_back(syntax.name);
    }
    names += fmt::format("    '{}:{}'\n", syntax.name, zsh_text(syntax.summary));
    std::string options;
    for (const OptionSpec& option : options_of(syntax)) {
      for (const std::string_view name : {option.name, option.short_name}) {
        options += name.empty() ? "" : fmt::format(" \\\n        {}", option_spec(option, name));
      }
    }
    cases +=
        fmt::format("      {})\n        {}_arguments -s -S{}{} ;;\n", syntax.name,
                    program_place_of(syntax) == ProgramPlace::BehindDashes ? "_tidemark_program_behind_dashes || " : "",
                    options, places_spec(syntax));
  }
  return fmt::format(
      "#compdef tidemark\n"
      "# Completion of tidemark for zsh: tidemark completion zsh > DIR/_tidemark, with DIR in fpath\n\n"
      "_tidemark_commands() {{\n  local -a commands\n  commands=(\n{}  )\n  _describe command commands\n}}\n\n"
      "_tidemark_targets() {{\n"
      "  local -a targets dead\n"
      "  [[ $tidemark_command == ({}) ]] && dead=(--dead)\n"
      "  targets=(\"${{(@f)$(tidemark completion targets $dead 2>/dev/null)}}\")\n"
      "  targets=(\"${{(@)targets//:/\\\\:}}\")\n"
      "  targets=(\"${{(@)targets/$'\\t'/:}}\")\n"
      "  _describe target targets\n}}\n\n"
      "_tidemark_targets_and_files() {{\n"
      "  _alternative 'targets:target:_tidemark_targets' 'files:file:_files'\n}}\n\n"
      "# What follows \"--\" is another command's line.\n"
      "_tidemark_program_behind_dashes() {{\n"
      "  local -i dashes=${{words[(i)--]}}\n"
      "  (( dashes < CURRENT )) || return\n"
      "  words=(\"${{(@)words[dashes + 1,-1]}}\")\n"
      "  (( CURRENT -= dashes ))\n"
      "  _normal\n"
      "  return 0\n}}\n\n"
      "_tidemark() {{\n"
      "  local curcontext=$curcontext state line tidemark_command\n"
      "  _arguments -C '*--dir=[look for segments in DIR too]:DIR:_files -/' '1:command:_tidemark_commands' "
      "'*::argument:->arguments'\n"
      "  if [[ $state == arguments ]]; then\n"
      "    tidemark_command=$line[1]\n"
      "    case $tidemark_command in\n{}    esac\n  fi\n}}\n\n"
      "if [[ $funcstack[1] == _tidemark ]]; then\n  _tidemark \"$@\"\nelse\n  compdef _tidemark tidemark\nfi\n",
      names, fmt::join(dead, "|"), cases);
}

}  // namespace tidemark::viewer
