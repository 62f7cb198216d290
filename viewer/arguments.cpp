#include "viewer/arguments.hpp"

#include "viewer/exit_code.hpp"
#include "viewer/nearest.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>

namespace tidemark::viewer {
namespace {

constexpr std::array kCommonOptions{
    OptionSpec{"--dir", "", Takes::Value, "DIR", "look for segments in DIR too (repeatable; besides TIDEMARK_DIR)"},
    OptionSpec{"--quiet", "-q", Takes::Nothing, "", "no messages on stderr but errors; what goes to stdout stays"},
    OptionSpec{"--help", "-h", Takes::Nothing, "", "this text"},
};

const OptionSpec* find_option(std::span<const OptionSpec> options, std::string_view word) {
  for (const OptionSpec& option : options) {
    if (word == option.name || (!option.short_name.empty() && word == option.short_name)) {
      return &option;
    }
  }
  return nullptr;
}

bool looks_like_option(std::string_view word) { return word.size() > 1 && word.starts_with('-'); }

enum class ValuePlace { Inline, Next, Missing };

// Where the option at `words[at]` has its value. A forgotten one must not swallow what follows: `run --label --
// ./train` would otherwise start a program called by an argument of the real one.
ValuePlace place_of_value(std::span<const std::string> words, std::size_t at, std::span<const OptionSpec> options) {
  if (const std::size_t equals = words[at].find('='); equals != std::string::npos) {
    return equals + 1 < words[at].size() ? ValuePlace::Inline : ValuePlace::Missing;
  }
  if (at + 1 == words.size()) {
    return ValuePlace::Missing;
  }
  const std::string_view next = words[at + 1];
  const bool is_ours = next == "--" || find_option(options, next.substr(0, next.find('='))) != nullptr;
  return is_ours ? ValuePlace::Missing : ValuePlace::Next;
}

std::string missing_value_line(const OptionSpec& option, std::span<const std::string> words, std::size_t at) {
  std::string line = fmt::format("{0} wants a value: {0} {1}", option.name, option.value_name);
  const bool has_next = words[at].find('=') == std::string::npos && at + 1 < words.size();
  return has_next ? fmt::format("{}; for '{}' itself write {}={}", line, words[at + 1], option.name, words[at + 1])
                  : line;
}

[[noreturn]] void fail(const CommandSyntax& command, const std::string& what) {
  throw Failure(ExitCode::Usage, fmt::format("{}: {}; see 'tidemark {} --help'", command.name, what, command.name));
}

[[noreturn]] void fail_unknown(const CommandSyntax& command, std::span<const OptionSpec> options,
                               std::string_view word) {
  const std::string_view typed = word.substr(0, word.find('='));
  std::vector<std::string_view> names;
  for (const OptionSpec& option : options) {
    names.push_back(option.name);
  }
  const std::string_view near = nearest(typed, names);
  if (!near.empty()) {
    fail(command, fmt::format("no option '{}'; did you mean '{}'?", typed, near));
  }
  constexpr std::size_t kMostListed = 10;
  fail(command, names.size() > kMostListed
                    ? fmt::format("no option '{}' in this version", typed)
                    : fmt::format("no option '{}' in this version; there are {}", typed, fmt::join(names, " ")));
}

void check_operands(const CommandSyntax& command, const std::vector<std::string>& operands) {
  const std::string_view what = command.operands.substr(0, command.operands.find(' '));
  switch (command.takes) {
    case Operands::None:
      if (!operands.empty()) {
        fail(command, fmt::format("takes no '{}'", operands.front()));
      }
      break;
    case Operands::One:
    case Operands::OneAndProgram:
      if (operands.size() != 1) {
        fail(command, operands.empty() ? fmt::format("needs a {}", what)
                                       : fmt::format("takes one {}, not {}", what, operands.size()));
      }
      break;
    case Operands::OneOrProgram:
      if (operands.size() > 1) {
        fail(command, fmt::format("takes one TARGET, not {}; a program comes behind '--'", operands.size()));
      }
      break;
    case Operands::Any:
    case Operands::Program:
      break;
  }
}

}  // namespace

std::span<const OptionSpec> common_options() { return kCommonOptions; }

std::vector<OptionSpec> options_of(const CommandSyntax& command) {
  std::vector<OptionSpec> options(command.options.begin(), command.options.end());
  for (const OptionSpec& common : kCommonOptions) {
    // A command may give a common option its own meaning: `run --dir` says where the program's segment goes.
    const bool own = std::any_of(command.options.begin(), command.options.end(),
                                 [&](const OptionSpec& option) { return option.name == common.name; });
    if (!own) {
      options.push_back(common);
    }
  }
  return options;
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() || found->second.empty() ? std::nullopt : std::optional{found->second.back()};
}

std::vector<std::string> Arguments::values(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

SplitWords split_words(std::span<const std::string> words, std::span<const OptionSpec> options, bool stop_at_operand) {
  SplitWords split;
  std::size_t i = 0;
  for (; i < words.size(); ++i) {
    if (words[i] == "--") {
      split.dashes = true;
      break;
    }
    if (!looks_like_option(words[i])) {
      if (stop_at_operand) {
        break;
      }
      split.ours.push_back(words[i]);
      continue;
    }
    split.ours.push_back(words[i]);
    const OptionSpec* option = find_option(options, std::string_view{words[i]}.substr(0, words[i].find('=')));
    if (option == nullptr || option->takes != Takes::Value) {
      continue;
    }
    switch (place_of_value(words, i, options)) {
      case ValuePlace::Inline:
        break;
      case ValuePlace::Next:
        split.ours.push_back(words[++i]);
        break;
      case ValuePlace::Missing:
        if (split.missing_value.empty()) {
          split.missing_value = missing_value_line(*option, words, i);
        }
        break;
    }
  }
  const std::size_t rest = i + (split.dashes ? 1 : 0);
  split.rest.assign(words.begin() + static_cast<std::ptrdiff_t>(rest), words.end());
  return split;
}

Arguments parse_arguments(const CommandSyntax& command, std::span<const std::string> words) {
  const std::vector<OptionSpec> options = options_of(command);
  SplitWords split = split_words(words, options, command.takes == Operands::Program);
  if (!split.missing_value.empty()) {
    fail(command, split.missing_value);
  }

  CLI::App app;
  app.set_help_flag();
  app.allow_extras();  // unknown options are explained below, operands checked by hand
  std::vector<std::pair<const OptionSpec*, CLI::Option*>> declared;
  for (const OptionSpec& option : options) {
    std::string names{option.name};
    if (!option.short_name.empty()) {
      names = fmt::format("{},{}", option.short_name, option.name);
    }
    if (option.takes == Takes::Nothing) {
      declared.emplace_back(&option, app.add_flag(names));
    } else {
      CLI::Option* added = app.add_option(names);  // nothing is stored: results() has the words as typed
      added->type_name(std::string{option.value_name})->type_size(1)->allow_extra_args(false);
      added->expected(option.takes == Takes::Value ? 1 : 0, 1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      declared.emplace_back(&option, added);
    }
  }
  try {
    // CLI11 takes the words last one first.
    app.parse(std::vector<std::string>{split.ours.rbegin(), split.ours.rend()});
  } catch (const CLI::ParseError& error) {
    fail(command, error.what());
  }
  Arguments arguments;
  for (const auto& [spec, option] : declared) {
    if (option->count() == 0) {
      continue;
    }
    auto& stored = arguments.values_[std::string{spec->name}];
    if (spec->takes != Takes::Nothing) {
      stored = option->results();
    }
    if (spec->takes == Takes::OptionalValue) {
      std::erase(stored, std::string{});
    }
  }
  for (std::string& word : app.remaining()) {
    if (looks_like_option(word)) {
      fail_unknown(command, options, word);
    }
    arguments.operands_.push_back(std::move(word));
  }
  if ((command.takes == Operands::OneOrProgram || command.takes == Operands::OneAndProgram) && split.dashes) {
    arguments.program_ = std::move(split.rest);
  } else {
    arguments.operands_.insert(arguments.operands_.end(), split.rest.begin(), split.rest.end());
  }
  if (!arguments.has("--help")) {
    check_operands(command, arguments.operands_);
  }
  return arguments;
}

std::string help_text(const CommandSyntax& command) {
  std::string text = fmt::format("usage: tidemark {} [options]{}{}\n\n{}\n", command.name,
                                 command.operands.empty() ? "" : " ", command.operands, command.summary);
  if (!command.examples.empty()) {
    text += fmt::format("\nexamples:\n{}", command.examples);
  }
  text += "\noptions:\n";
  for (const OptionSpec& option : options_of(command)) {
    std::string left =
        option.short_name.empty() ? std::string{option.name} : fmt::format("{}, {}", option.short_name, option.name);
    switch (option.takes) {
      case Takes::Nothing:
        break;
      case Takes::Value:
        left += fmt::format(" {}", option.value_name);
        break;
      case Takes::OptionalValue:
        left += fmt::format("[={}]", option.value_name);
        break;
    }
    text += left.size() > 26 ? fmt::format("  {}\n  {:<26}  {}\n", left, "", option.help)
                             : fmt::format("  {:<26}  {}\n", left, option.help);
  }
  return text;
}

}  // namespace tidemark::viewer
