// What a command line says: options by a table of ours (from which help and completion come as well), parsed by CLI11.
//
// CLI11 2.1.2 reorders what follows "--", so the program's part is cut off by hand before CLI11 sees anything.
// Mistakes throw Failure{Usage} with one line that names what is allowed.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::viewer {

enum class Takes {
  Nothing,
  Value,          // --limit 8G or --limit=8G; "--" and the command's own options are values only behind a "="
  OptionalValue,  // --record or --record=state; the next word is never taken for the value
};

struct OptionSpec {
  std::string_view name;        // "--timeout"
  std::string_view short_name;  // "-t", or empty
  Takes takes = Takes::Nothing;
  std::string_view value_name;  // "SEC", for help
  std::string_view help;        // one line
  std::string_view words{};     // values it can have, between blanks; empty: any
};

// What a command takes besides options.
enum class Operands {
  None,
  One,            // exactly one word
  Any,            // any number of words
  OneAndProgram,  // exactly one word, and after "--" maybe a program and its arguments: Arguments::program()
  OneOrProgram,   // at most one word, and after "--" a program: Arguments::program()
  Program,        // a program and its arguments: everything from the first word that is not an option, or after "--"
};

struct CommandSyntax {
  std::string_view name;      // "reset-peak"
  std::string_view operands;  // "TARGET...|--all", for help
  Operands takes = Operands::None;
  std::string_view summary;   // one sentence
  std::string_view examples;  // lines, each with its own newline
  std::span<const OptionSpec> options;
  bool looks_at_segments = true;
};

// Options that every command takes: --dir, -q, -h.
[[nodiscard]] std::span<const OptionSpec> common_options();

// A command's own and these.
[[nodiscard]] std::vector<OptionSpec> options_of(const CommandSyntax& command);

class Arguments {
 public:
  [[nodiscard]] bool has(std::string_view option) const { return values_.contains(option); }
  // The last value given; nullopt if the option was not given, or without a value.
  [[nodiscard]] std::optional<std::string> value(std::string_view option) const;
  // Every value given, in order.
  [[nodiscard]] std::vector<std::string> values(std::string_view option) const;
  [[nodiscard]] const std::vector<std::string>& operands() const { return operands_; }
  // What followed "--", if the command takes both; nullopt: there was no "--".
  [[nodiscard]] const std::optional<std::vector<std::string>>& program() const { return program_; }

 private:
  friend Arguments parse_arguments(const CommandSyntax& command, std::span<const std::string> words);

  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> operands_;
  std::optional<std::vector<std::string>> program_;
};

struct SplitWords {
  std::vector<std::string> ours;
  std::vector<std::string> rest;
  bool dashes = false;        // a "--" stood between
  std::string missing_value;  // one line about the first option that has no value; empty: all have
};

// Cuts `words` at the first "--". With `stop_at_operand` (a command that takes a program) also before the first word
// that is neither an option of `options` nor its value.
[[nodiscard]] SplitWords split_words(std::span<const std::string> words, std::span<const OptionSpec> options,
                                     bool stop_at_operand);

// `words` is what follows the command's name.
[[nodiscard]] Arguments parse_arguments(const CommandSyntax& command, std::span<const std::string> words);

// One screen: usage, examples, options.
[[nodiscard]] std::string help_text(const CommandSyntax& command);

}  // namespace tidemark::viewer
