// tidemark diff: what two snapshots, or two looks at a process's counters, differ in.
#include "viewer/commands/commands.hpp"
#include "viewer/history/compare_text.hpp"
#include "viewer/history/find_snapshot.hpp"
#include "viewer/history/short_stacks.hpp"
#include "viewer/history/top_option.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <variant>

namespace tidemark::viewer {
namespace {

constexpr std::array kOptions{
    OptionSpec{"--by", "", Takes::Value, "WHAT", "stack (default, where both have any), or size", "stack size"},
    OptionSpec{"--top", "-n", Takes::Value, "N", "gains and losses of each device that are told (10); 0: all"},
    OptionSpec{"--all-frames", "", Takes::Nothing, "",
               "whole stacks, with the calls inside the driver and in front of main()"},
    OptionSpec{"--json", "", Takes::Nothing, "", "one JSON document"},
};

using Side = std::variant<TakenSnapshot, Value>;

Side find_side(const std::string& word, const Context& context) {
  Side side = find_snapshot_or_json(word, context);
  if (const auto* document = std::get_if<Value>(&side); document != nullptr && !is_show_document(*document)) {
    throw Failure(ExitCode::Failed, fmt::format("{} is neither a snapshot nor a document of 'show --json'", word));
  }
  return side;
}

// By stack where both have any: what has none would be all gain, or all loss.
By by_of(const Arguments& arguments, const MemorySnapshot& before, const MemorySnapshot& after,
         const Context& context) {
  const auto text = arguments.value("--by");
  if (!text) {
    if (before.has_stacks() != after.has_stacks()) {
      context.messages.note(fmt::format("{}: no stacks were recorded; compared by size",
                                        arguments.operands()[before.has_stacks() ? 1 : 0]));
    }
    return before.has_stacks() && after.has_stacks() ? By::Stack : By::Size;
  }
  if (*text != "stack" && *text != "size") {
    throw Failure(ExitCode::Usage, fmt::format("diff: --by '{}'; allowed: stack, size", *text));
  }
  return *text == "stack" ? By::Stack : By::Size;
}

ExitCode run(const Arguments& arguments, const Context& context) {
  const std::vector<std::string>& words = arguments.operands();
  if (words.size() != 2) {
    throw Failure(ExitCode::Usage, "diff: needs two, OLD and NEW: tidemark diff before.pickle after.pickle");
  }
  const std::size_t top = top_option(arguments, "diff");
  const bool json = arguments.has("--json");
  Side before = find_side(words[0], context);
  Side after = find_side(words[1], context);
  if (before.index() != after.index()) {
    throw Failure(ExitCode::Usage,
                  fmt::format("diff: '{}' and '{}' are of different kinds; allowed: two snapshots, or two "
                              "documents of 'show --json'",
                              words[0], words[1]));
  }
  if (const auto* document = std::get_if<Value>(&before)) {
    const auto changes = compare_counters(*document, std::get<Value>(after));
    fmt::print("{}", json ? compare_json(changes) + "\n" : compare_text(changes, terminal_charset()));
    return ExitCode::Done;
  }
  auto& old_one = std::get<TakenSnapshot>(before);
  auto& new_one = std::get<TakenSnapshot>(after);
  for (TakenSnapshot* const taken : {&old_one, &new_one}) {
    if (!arguments.has("--all-frames")) {
      shorten_stacks(taken->snapshot);
    }
    for (const std::string& note : taken->notes) {
      context.messages.note(note);
    }
  }
  const By by = by_of(arguments, old_one.snapshot, new_one.snapshot, context);
  const auto changes = compare(old_one.snapshot, new_one.snapshot);
  fmt::print("{}", json ? compare_json(changes) + "\n" : compare_text(changes, by, terminal_charset(), top));
  return ExitCode::Done;
}

}  // namespace

Command diff_command() {
  return {.syntax = {.name = "diff",
                     .operands = "OLD NEW",
                     .takes = Operands::Any,
                     .summary = "Tells what two snapshots, or two documents of 'show --json', differ in.",
                     .examples = "  tidemark diff before.pickle after.pickle\n"
                                 "  tidemark diff before.pickle 4711         with what it holds now\n"
                                 "  tidemark diff monday.json tuesday.json   counters, of 'show --json'\n",
                     .options = kOptions},
          .run = run};
}

}  // namespace tidemark::viewer
