#include "viewer/render/completion_places.hpp"
#include "viewer/render/completion_text.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace tidemark::viewer {
namespace {

constexpr std::string_view kFunctions = R"fish(
# Where the cursor is: "COMMAND N", with N operands before it; "program N", whose line begins with word N; "command 0".
function __tidemark_place
    set -l words (commandline -opc)
    set -l command
    set -l behind
    set -l valued --dir
    set -l operands 0
    set -l at 2
    while test $at -le (count $words)
        set -l word $words[$at]
        if test "$word" = --
            if test -n "$behind"
                echo program (math $at + 1)
            else
                echo $command $operands
            end
            return
        else if contains -- $word $valued
            set at (math $at + 1)
            if test $at -gt (count $words)
                echo $command $operands
                return
            end
        else if string match -q -- '-*' $word
        else if test -z "$command"
            set command $word
            set valued (__tidemark_valued $word)
            set behind (__tidemark_behind $word)
        else if test "$behind" = anything
            echo program $at
            return
        else
            set operands (math $operands + 1)
        end
        set at (math $at + 1)
    end
    if test -z "$command"
        echo command 0
    else if test "$behind" = anything; and not string match -q -- '-*' (commandline -ct)
        echo program $at
    else
        echo $command $operands
    end
end

# Is it this command's line, and its place FIRST to LAST?
function __tidemark_at --argument-names command first last
    set -l place (string split ' ' -- (__tidemark_place))
    test "$place[1]" = $command; and begin
        test -z "$first"; or test $place[2] -ge $first -a $place[2] -le $last
    end
end

function __tidemark_program
    set -l place (string split ' ' -- (__tidemark_place))
    set -l words (commandline -opc)
    set -l line
    if test $place[2] -le (count $words)
        set line (string escape -- $words[$place[2]..])
    end
    complete -C (string join ' ' -- $line (commandline -ct))
end

complete -c tidemark -f
complete -c tidemark -n '__tidemark_at program' -a '(__tidemark_program)'
complete -c tidemark -n '__tidemark_at command' -l dir -x -a '(__fish_complete_directories)' -d 'look for segments in DIR too'
)fish";

// fish leaves all but these two alone between single quotes.
std::string fish_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'' || c == '\\') {
      escaped += '\\';
    }
    escaped += c;
  }
  return fmt::format("'{}'", escaped);
}

std::string option_flags(const OptionSpec& option) {
  std::string text = fmt::format(" -l {}", option.name.substr(2));
  if (!option.short_name.empty()) {
    text += fmt::format(" -s {}", option.short_name.substr(1));
  }
  const std::string_view values = values_of(option);
  const bool is_directory = values == "@directory";
  const bool is_file = values == "@file";
  if (option.takes == Takes::Value) {
    text += is_file ? " -r -F" : " -x";
  }
  if (option.takes != Takes::Nothing && !values.empty() && !is_file) {
    text += fmt::format(" -a {}", is_directory ? "'(__fish_complete_directories)'" : fish_text(values));
  }
  return text + fmt::format(" -d {}", fish_text(option.help));
}

std::string place_flags(const Place& place, std::span<const Command> commands) {
  std::string text;
  if (place.target) {
    text += fmt::format(" -a '(tidemark completion targets{} 2>/dev/null)'", place.dead ? " --dead" : "");
  }
  if (place.file) {
    text += " -F";
  }
  if (place.command) {
    text += fmt::format(" -a {}", fish_text(names_of(commands)));
  }
  if (!place.words.empty()) {
    text += fmt::format(" -a '{}'", fmt::join(place.words, " "));
  }
  return text;
}

std::string places_text(const CommandSyntax& syntax, std::span<const Command> commands) {
  constexpr int kLast = 9999;
  std::string text;
  int number = 0;
  for (const Place& place : places_of(syntax)) {
    if (const std::string flags = place_flags(place, commands); !flags.empty()) {
      text += fmt::format("complete -c tidemark -n '__tidemark_at {} {} {}'{}\n", syntax.name, number,
                          place.repeats ? kLast : number, flags);
    }
    ++number;
  }
  return text;
}

std::string_view behind_dashes(const CommandSyntax& command) {
  return program_place_of(command) == ProgramPlace::Anywhere ? "anything" : "dashes";
}

}  // namespace

std::string fish_completion(std::span<const Command> commands) {
  std::string valued;
  std::string behind;
  std::string lines;
  for (const Command& command : commands) {
    const CommandSyntax& syntax = command.syntax;
    valued +=
        fmt::format("        case {}\n            string split ' ' -- '{}'\n", syntax.name, valued_options_of(syntax));
    if (program_place_of(syntax) != ProgramPlace::None) {
      behind += fmt::format("        case {}\n            echo {}\n", syntax.name, behind_dashes(syntax));
    }
    lines += fmt::format("complete -c tidemark -n '__tidemark_at command' -a {} -d {}\n", syntax.name,
                         fish_text(syntax.summary));
    for (const OptionSpec& option : options_of(syntax)) {
      lines += fmt::format("complete -c tidemark -n '__tidemark_at {}'{}\n", syntax.name, option_flags(option));
    }
    lines += places_text(syntax, commands);
  }
  return fmt::format(
      "# Completion of tidemark for fish: tidemark completion fish > ~/.config/fish/completions/tidemark.fish\n\n"
      "# The options of a command that have the next word for their value.\n"
      "function __tidemark_valued\n    switch \"$argv[1]\"\n{}    end\nend\n\n"
      "# Where a command's line has a program: behind anything that is no option, or behind dashes.\n"
      "function __tidemark_behind\n    switch \"$argv[1]\"\n{}    end\nend\n{}{}",
      valued, behind, kFunctions, lines);
}

}  // namespace tidemark::viewer
