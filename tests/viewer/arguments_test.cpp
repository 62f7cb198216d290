// Command lines: what is ours, what is the program's, and what mistakes are told.
#include "viewer/arguments.hpp"
#include "viewer/exit_code.hpp"

#include "tests/viewer/refusal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace tidemark::viewer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr std::array kOptions{
    OptionSpec{"--json", "", Takes::Nothing, "", "j"},
    OptionSpec{"--timeout", "-t", Takes::Value, "SEC", "t"},
    OptionSpec{"--record", "", Takes::OptionalValue, "WHAT", "r"},
};

CommandSyntax syntax(Operands takes) {
  return {.name = "cmd", .operands = "TARGET", .takes = takes, .summary = "Does.", .examples = "", .options = kOptions};
}

// The message of the failure that these words are, "" for none.
std::string failure_of(Operands takes, const Words& words) {
  return refusal_by([&] { return parse_arguments(syntax(takes), words); });
}

TEST(SplitWords, CutsAtTheFirstDashes) {
  const SplitWords split = split_words(Words{"--json", "--", "prog", "--help", "--", "x"}, kOptions, true);

  EXPECT_THAT(split.ours, ElementsAre("--json"));
  EXPECT_THAT(split.rest, ElementsAre("prog", "--help", "--", "x"));
  EXPECT_TRUE(split.dashes);
}

TEST(SplitWords, StopsAtTheProgramWithoutDashes) {
  const SplitWords split = split_words(Words{"--timeout", "5", "prog", "--json", "--", "x"}, kOptions, true);

  EXPECT_THAT(split.ours, ElementsAre("--timeout", "5"));
  EXPECT_THAT(split.rest, ElementsAre("prog", "--json", "--", "x"));
  EXPECT_FALSE(split.dashes);
}

TEST(SplitWords, NeverTakesTheProgramForAnOptionalValue) {
  const SplitWords split = split_words(Words{"--record", "state", "x"}, kOptions, true);

  EXPECT_THAT(split.ours, ElementsAre("--record"));
  EXPECT_THAT(split.rest, ElementsAre("state", "x"));
}

TEST(SplitWords, NeverTakesTheDashesForAValue) {
  const SplitWords split = split_words(Words{"-t", "--", "prog"}, kOptions, true);

  EXPECT_THAT(split.ours, ElementsAre("-t"));
  EXPECT_THAT(split.rest, ElementsAre("prog"));
  EXPECT_NE(split.missing_value, "");
}

TEST(Arguments, GiveTheProgramItsWordsUntouched) {
  const Words words{"--json", "--", "prog", "--help", "--", "-t", "--json=x", ""};

  const Arguments arguments = parse_arguments(syntax(Operands::Program), words);

  EXPECT_TRUE(arguments.has("--json"));
  EXPECT_FALSE(arguments.has("--help"));
  EXPECT_THAT(arguments.operands(), ElementsAre("prog", "--help", "--", "-t", "--json=x", ""));
}

TEST(Arguments, MixOptionsAndOperands) {
  const Arguments arguments = parse_arguments(syntax(Operands::Any), Words{"a", "--timeout=5", "b", "--json", "c"});

  EXPECT_THAT(arguments.operands(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(arguments.value("--timeout"), "5");
  EXPECT_TRUE(arguments.has("--json"));
}

TEST(Arguments, TakeShortNamesAndKeepEveryValue) {
  const Arguments arguments =
      parse_arguments(syntax(Operands::Any), Words{"-t", "1", "-t2", "--dir", "x", "--dir=y", "-q"});

  EXPECT_THAT(arguments.values("--timeout"), ElementsAre("1", "2"));
  EXPECT_EQ(arguments.value("--timeout"), "2");
  EXPECT_THAT(arguments.values("--dir"), ElementsAre("x", "y"));
  EXPECT_TRUE(arguments.has("--quiet"));
}

TEST(Arguments, KnowAnOptionWithoutItsValue) {
  const Arguments without = parse_arguments(syntax(Operands::Program), Words{"--record", "--json", "--", "p"});
  const Arguments with = parse_arguments(syntax(Operands::Program), Words{"--record=state", "p"});

  EXPECT_TRUE(without.has("--record"));
  EXPECT_EQ(without.value("--record"), std::nullopt);
  EXPECT_TRUE(without.has("--json"));
  EXPECT_EQ(with.value("--record"), "state");
  EXPECT_THAT(with.operands(), ElementsAre("p"));
}

TEST(Arguments, AfterDashesAreOperandsWhateverTheyLookLike) {
  const Arguments arguments = parse_arguments(syntax(Operands::Any), Words{"a", "--", "--json", "-x"});

  EXPECT_FALSE(arguments.has("--json"));
  EXPECT_THAT(arguments.operands(), ElementsAre("a", "--json", "-x"));
}

TEST(Arguments, SuggestTheOptionThatWasMeant) {
  EXPECT_THAT(failure_of(Operands::Any, {"--jsn"}), HasSubstr("no option '--jsn'; did you mean '--json'?"));
  EXPECT_THAT(failure_of(Operands::Any, {"--tiemout=5"}), HasSubstr("did you mean '--timeout'?"));
  EXPECT_THAT(failure_of(Operands::Any, {"--expect", "x"}), HasSubstr("no option '--expect' in this version"));
  EXPECT_THAT(failure_of(Operands::Any, {"-z"}), HasSubstr("no option '-z'"));
}

TEST(Arguments, TellAnOptionThatWantsAValue) {
  EXPECT_THAT(failure_of(Operands::Any, {"--timeout"}), HasSubstr("cmd: --timeout wants a value: --timeout SEC;"));
  EXPECT_THAT(failure_of(Operands::Any, {"-t"}), HasSubstr("--timeout wants a value"));
  EXPECT_THAT(failure_of(Operands::Any, {"--timeout=", "5"}), HasSubstr("--timeout wants a value"));
  EXPECT_THAT(failure_of(Operands::Program, {"--timeout", "--", "prog"}),
              HasSubstr("--timeout wants a value: --timeout SEC; for '--' itself write --timeout=--"));
  EXPECT_THAT(failure_of(Operands::Program, {"--timeout", "--json", "--", "prog"}),
              HasSubstr("--timeout wants a value: --timeout SEC; for '--json' itself write --timeout=--json"));
  EXPECT_THAT(failure_of(Operands::Any, {"--dir", "--timeout=5"}), HasSubstr("--dir wants a value: --dir DIR"));
}

TEST(Arguments, TakeAnyValueBehindAnEqualsSign) {
  const Arguments arguments = parse_arguments(syntax(Operands::Program), Words{"--timeout=--", "--dir=--json", "prog"});

  EXPECT_EQ(arguments.value("--timeout"), "--");
  EXPECT_EQ(arguments.value("--dir"), "--json");
  EXPECT_FALSE(arguments.has("--json"));
}

TEST(Arguments, TakeAValueThatBeginsWithAHyphen) {
  EXPECT_EQ(parse_arguments(syntax(Operands::Any), Words{"--timeout", "-3"}).value("--timeout"), "-3");
  EXPECT_EQ(parse_arguments(syntax(Operands::Any), Words{"--dir", "-odd", "a"}).value("--dir"), "-odd");
}

TEST(Arguments, TellMissingAndSuperfluousWords) {
  EXPECT_THAT(failure_of(Operands::None, {"x"}), HasSubstr("takes no 'x'"));
  EXPECT_THAT(failure_of(Operands::One, {}), HasSubstr("needs a TARGET"));
  EXPECT_THAT(failure_of(Operands::One, {"a", "b"}), HasSubstr("takes one TARGET, not 2"));
  EXPECT_EQ(failure_of(Operands::One, {"--help"}), "");
}

TEST(Arguments, MistakesAreOneLine) {
  for (const Words& words : {Words{"--timeout"}, Words{"--json=maybe"}, Words{"--nope"}, Words{"---"}, Words{"-"},
                             Words{"--=x"}, Words{"--timeout="}, Words{"-t"}}) {
    const std::string line = failure_of(Operands::None, words);
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  }
}

TEST(HelpText, ListsEveryOptionWithItsValue) {
  const std::string text = help_text(syntax(Operands::One));

  EXPECT_THAT(text, HasSubstr("usage: tidemark cmd [options] TARGET\n"));
  EXPECT_THAT(text, HasSubstr("-t, --timeout SEC"));
  EXPECT_THAT(text, HasSubstr("--record[=WHAT]"));
  EXPECT_THAT(text, HasSubstr("--dir DIR"));
}

TEST(Arguments, TellATargetFromAProgram) {
  const Arguments both = parse_arguments(syntax(Operands::OneOrProgram), Words{"4711", "--", "prog", "--json"});
  EXPECT_THAT(both.operands(), ElementsAre("4711"));
  EXPECT_THAT(both.program().value(), ElementsAre("prog", "--json"));
  EXPECT_FALSE(both.has("--json"));

  const Arguments target = parse_arguments(syntax(Operands::OneOrProgram), Words{"4711", "--json"});
  EXPECT_FALSE(target.program());
  EXPECT_TRUE(target.has("--json"));

  EXPECT_THAT(failure_of(Operands::OneOrProgram, {"1", "2"}), HasSubstr("takes one TARGET, not 2"));
}

}  // namespace
}  // namespace tidemark::viewer
