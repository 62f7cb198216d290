#include "viewer/render/man_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace tidemark::viewer {
namespace {

// As running text: nothing in it is a request of groff's, and a hyphen stays the one that can be copied into a shell.
std::string escaped(std::string_view text) {
  std::string result;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) {
      result += "\\&";
    }
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    begins_line = c == '\n';
  }
  return result;
}

std::string upper(std::string_view text) {
  std::string result{text};
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return std::toupper(c); });
  return result;
}

std::string head(std::string_view name, std::string_view summary, std::string_view version) {
  std::string clause{summary};
  while (clause.ends_with('.')) {
    clause.pop_back();
  }
  return fmt::format(".TH {} 1 \"\" \"Tidemark {}\" \"Tidemark\"\n.SH NAME\n{} \\- {}\n", upper(escaped(name)),
                     escaped(version), escaped(name), escaped(clause));
}

std::string section(std::string_view title) { return fmt::format(".SH {}\n", title); }

std::string tagged(std::string_view tag, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", tag, escaped(text));
}

std::string option_tag(const OptionSpec& option) {
  std::string tag;
  if (!option.short_name.empty()) {
    tag += fmt::format("\\fB{}\\fR, ", escaped(option.short_name));
  }
  tag += fmt::format("\\fB{}\\fR", escaped(option.name));
  if (option.takes == Takes::Value) {
    tag += fmt::format(" \\fI{}\\fR", escaped(option.value_name));
  } else if (option.takes == Takes::OptionalValue) {
    tag += fmt::format("[=\\fI{}\\fR]", escaped(option.value_name));
  }
  return tag;
}

std::string examples(std::string_view lines) {
  return lines.empty() ? "" : fmt::format("{}.nf\n{}.fi\n", section("EXAMPLES"), escaped(lines));
}

using Row = std::pair<std::string_view, std::string_view>;

constexpr std::array<Row, 3> kTargets{{
    {"a pid", "as the viewer sees it"},
    {"an id", "8 hexadecimal digits, as ps shows them: unique, also among dead processes"},
    {"a label", "as TIDEMARK_LABEL or run --label gave it"},
}};

constexpr std::array<Row, 5> kDevices{{
    {"cuda:N, mtia:N", "the process's own number"},
    {"N", "the same, where the process has devices of one kind"},
    {"gpu:N", "the node's number, as nvidia-smi counts"},
    {"GPU-9f3c..., 9f3c...", "the beginning of a uuid"},
    {"all", "every device: the default of commands that act"},
}};

constexpr std::array<Row, 8> kExitCodes{{
    {"0", "done; an empty list is success"},
    {"1", "failed"},
    {"2", "a mistake in the command line"},
    {"3", "no such target or device"},
    {"4", "permission denied"},
    {"5", "a segment of an incompatible layout"},
    {"6", "not done in time"},
    {"123, 125, 126, 127",
     "of run: an expectation failed, could not launch, not executable, not found; else the program's own"},
}};

constexpr std::array<Row, 4> kFiles{{
    {"/dev/shm/tidemark.UID.PID.NONCE", "the counters of a process; viewers only read it (TIDEMARK_DIR: elsewhere)"},
    {"/dev/shm/tidemark.UID.PID.NONCE.ctl", "requests to it; only its owner and root may write"},
    {"/dev/shm/tidemark.UID.PID.NONCE.hist", "its memory history, while it records"},
    {"/dev/shm/tidemark.UID.PID.NONCE.ranges", "the peaks of its NVTX ranges (run --nvtx)"},
}};

template <std::size_t kRows>
std::string table(const std::array<Row, kRows>& rows) {
  std::string text;
  for (const auto& [tag, meaning] : rows) {
    text += tagged(fmt::format("\\fB{}\\fR", escaped(tag)), meaning);
  }
  return text;
}

}  // namespace

std::string man_page(const CommandSyntax& command, std::string_view version) {
  std::string text = head(fmt::format("tidemark-{}", command.name), command.summary, version);
  text += fmt::format("{}\\fBtidemark {}\\fR [\\fIoptions\\fR] {}\n", section("SYNOPSIS"), escaped(command.name),
                      escaped(command.operands));
  text += fmt::format("{}{}\n", section("DESCRIPTION"), escaped(command.summary));
  text += section("OPTIONS");
  for (const OptionSpec& option : options_of(command)) {
    text += tagged(option_tag(option),
                   option.words.empty() ? std::string{option.help} : fmt::format("{}: {}", option.help, option.words));
  }
  text += examples(command.examples);
  return text + section("SEE ALSO") + "\\fBtidemark\\fR(1)\n";
}

std::string man_overview(std::span<const CommandSyntax> commands, std::string_view version) {
  std::string text =
      head("tidemark", "shows and manages the accelerator memory of programs that were not built for it", version);
  text += section("SYNOPSIS") + "\\fBtidemark\\fR [\\fIcommand\\fR [\\fIoptions\\fR] [\\fIarguments\\fR]]\n";
  text += section("DESCRIPTION") +
          escaped(
              "A library that is preloaded into a program serves its device memory from a cache and publishes the "
              "counters; tidemark shows them, and asks the program's library to reset a peak, give memory back, or "
              "obey another limit. Names and meanings of the counters are PyTorch's. Without a command: top on a "
              "terminal, ps otherwise.\n");
  text += section("COMMANDS");
  for (const CommandSyntax& command : commands) {
    text += tagged(fmt::format("\\fBtidemark\\-{}\\fR(1)", escaped(command.name)), command.summary);
  }
  text += section("TARGETS") + table(kTargets);
  text += section("DEVICES") + table(kDevices);
  text += section("EXIT STATUS") + table(kExitCodes);
  text += section("FILES") + table(kFiles);
  return text + examples("tidemark run -- ./train\ntidemark top\ntidemark reset-peak 4711\n");
}

}  // namespace tidemark::viewer
