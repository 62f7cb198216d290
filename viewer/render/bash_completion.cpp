#include "viewer/render/completion_places.hpp"
#include "viewer/render/completion_text.hpp"

#include <fmt/format.h>

#include <string_view>

namespace tidemark::viewer {
namespace {

constexpr std::string_view kEnd = R"bash(
_tidemark_targets() {
  local target rest dead=
  [[ $1 == *@dead* ]] && dead=--dead
  while IFS=$'\t' read -r target rest; do
    [[ $target == "$2"* ]] && COMPREPLY+=("$(printf %q "$target")")
  done < <("${COMP_WORDS[0]}" completion targets $dead 2>/dev/null)
}

_tidemark_words() {
  local word
  for word in $1; do
    [[ $word == "$2"* ]] && COMPREPLY+=("$word")
  done
}

# One of the places of a command: words, "@target", "@dead", "@file", "@command", joined by plus signs.
_tidemark_place() {
  local part
  for part in ${1//+/ }; do
    case $part in
      @target) _tidemark_targets "$1" "$2" ;;
      @dead) ;;
      @file) mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$2") ;;
      @command) _tidemark_words "$_tidemark_commands" "$2" ;;
      *) _tidemark_words "$part" "$2" ;;
    esac
  done
}

_tidemark() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local command= options= valued=' --dir ' places=@command behind= i at=0 word program=0
  COMPREPLY=()
  # bash takes "--mode=count" for three words.
  [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
  [[ $cur == = ]] && cur=
  for ((i = 1; i < COMP_CWORD && program == 0; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then
      [[ -n $behind ]] || return
      program=$((i + 1))
    elif [[ ${COMP_WORDS[i + 1]} == = ]]; then
      ((i += 2))
    elif [[ $valued == *" $word "* ]]; then
      ((i += 1))
    elif [[ $word != -* && -z $command ]]; then
      command=$word
      _tidemark_syntax "$command"
    elif [[ $word != -* && $behind == anything ]]; then
      program=$i
    elif [[ $word != -* ]]; then
      ((at += 1))
    fi
  done
  if [[ $valued == *" $prev "* && $program == 0 ]]; then
    word=$(_tidemark_values "$command $prev")
    case $word in
      @directory) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
      @file) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
      *) _tidemark_words "$word" "$cur" ;;
    esac
    return
  fi
  if [[ $program == 0 && $behind == anything && $cur != -* ]]; then
    program=$COMP_CWORD
  fi
  if ((program > 0)); then
    if declare -F _command_offset >/dev/null; then
      _command_offset "$program"
    elif ((program == COMP_CWORD)); then
      mapfile -t COMPREPLY < <(compgen -c -- "$cur")
    else
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
  elif [[ $cur == -* ]]; then
    _tidemark_words "$options" "$cur"
  else
    read -ra places <<<"$places"
    if ((at < ${#places[@]})); then
      word=${places[at]}
    elif ((${#places[@]} > 0)) && [[ ${places[-1]} == *... ]]; then
      word=${places[-1]}
    else
      return
    fi
    _tidemark_place "${word%...}" "$cur"
  fi
}

complete -o filenames -F _tidemark tidemark
)bash";

std::string place_text(const Place& place) {
  std::vector<std::string_view> parts = place.words;
  const auto add_if = [&](bool is_so, std::string_view part) {
    if (is_so) {
      parts.push_back(part);
    }
  };
  add_if(place.target, "@target");
  add_if(place.dead, "@dead");
  add_if(place.file, "@file");
  add_if(place.command, "@command");
  // Where there is nothing to offer, it is still a place.
  return fmt::format("{}{}", parts.empty() ? "@dead" : fmt::format("{}", fmt::join(parts, "+")),
                     place.repeats ? "..." : "");
}

std::string places_text(const CommandSyntax& command) {
  std::vector<std::string> texts;
  for (const Place& place : places_of(command)) {
    texts.push_back(place_text(place));
  }
  return fmt::format("{}", fmt::join(texts, " "));
}

std::string_view behind_dashes(const CommandSyntax& command) {
  switch (program_place_of(command)) {
    case ProgramPlace::Anywhere:
      return "anything";
    case ProgramPlace::BehindDashes:
      return "dashes";
    case ProgramPlace::None:
      break;
  }
  return "";
}

}  // namespace

std::string bash_completion(std::span<const Command> commands) {
  std::string syntax;
  std::string values;
  for (const Command& command : commands) {
    std::string options;
    for (const OptionSpec& option : options_of(command.syntax)) {
      for (const std::string_view name : {option.name, option.short_name}) {
        options += name.empty() ? "" : fmt::format("{}{}", options.empty() ? "" : " ", name);
        if (!name.empty() && !values_of(option).empty()) {
          values += fmt::format("    '{} {}') echo '{}' ;;\n", command.syntax.name, name, values_of(option));
        }
      }
    }
    syntax +=
        fmt::format("    {}) options='{}' valued=' {} ' places='{}' behind={} ;;\n", command.syntax.name, options,
                    valued_options_of(command.syntax), places_text(command.syntax), behind_dashes(command.syntax));
  }
  return fmt::format(
             "# Completion of tidemark for bash: source <(tidemark completion bash)\n"
             "_tidemark_commands='{}'\n\n"
             "_tidemark_syntax() {{\n  case $1 in\n{}    *) places= behind= ;;\n  esac\n}}\n\n"
             "_tidemark_values() {{\n  case $1 in\n{}    ' --dir') echo @directory ;;\n  esac\n}}\n",
             names_of(commands), syntax, values) +
         std::string{kEnd};
}

}  // namespace tidemark::viewer
