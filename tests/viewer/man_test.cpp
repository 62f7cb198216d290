// The manual pages: nothing is missing in them, and groff has nothing to say against them.
#include "viewer/commands/commands.hpp"
#include "viewer/render/man_text.hpp"

#include "tests/support/run_program.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace tidemark::viewer {
namespace {

namespace fs = std::filesystem;

// As the page has it, hyphens and all.
std::string in_roff(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '-' ? "\\-" : std::string(1, c);
  }
  return result;
}

std::vector<std::string> pages() {
  std::vector<std::string> all;
  std::vector<CommandSyntax> commands;
  for (const Command& command : all_commands()) {
    commands.push_back(command.syntax);
    all.push_back(man_page(command.syntax, "1.2.3"));
  }
  all.push_back(man_overview(commands, "1.2.3"));
  return all;
}

TEST(ManPages, HaveEveryCommandAndEveryOption) {
  const std::vector<std::string> all = pages();
  for (std::size_t i = 0; i < all_commands().size(); ++i) {
    const CommandSyntax& command = all_commands()[i].syntax;
    EXPECT_NE(all.back().find(in_roff(command.name)), std::string::npos) << command.name;
    for (const OptionSpec& option : options_of(command)) {
      EXPECT_NE(all[i].find(in_roff(option.name)), std::string::npos) << command.name << ' ' << option.name;
    }
  }
}

TEST(ManPages, TakeNothingForARequest) {
  const CommandSyntax command{
      .name = "odd", .operands = "", .summary = "First.\n.de x\n'br", .examples = "  back\\slash\n", .options = {}};

  const std::string page = man_page(command, "1");

  EXPECT_NE(page.find("\\&.de x"), std::string::npos) << page;
  EXPECT_NE(page.find("\\&'br"), std::string::npos) << page;
  EXPECT_NE(page.find("back\\eslash"), std::string::npos) << page;
}

TEST(ManPages, PassGroff) {
  if (::access("/usr/bin/groff", X_OK) != 0) {
    GTEST_SKIP() << "groff is not installed";
  }
  for (const std::string& page : pages()) {
    const test::Outcome outcome = test::run({.command = {"groff", "-man", "-ww", "-z", "-Kutf8"}, .input = page});
    EXPECT_EQ(outcome, (test::Outcome{.exit_code = 0})) << describe(outcome) << page;
  }
}

}  // namespace
}  // namespace tidemark::viewer
