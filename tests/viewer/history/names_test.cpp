// What addresses of a stack are called, by the history and by the files that they lay in.
#include <gtest/gtest.h>

#include <unistd.h>

#include <map>
#include <string>

#include "viewer/history/symbol_names.hpp"

namespace tidemark::viewer {
namespace {

// Has a place in the program that nobody else has.
[[gnu::noinline]] int function_of_this_test(int x) {
  asm volatile("" : "+r"(x));
  return x + 1;
}

class NamesOfATest final : public AddressNames {
 public:
  explicit NamesOfATest(std::map<std::uint64_t, Frames> names) : names_(std::move(names)) {}
  Frames frames_at(std::uint64_t address, std::uint64_t) override { return names_.at(address); }

 private:
  std::map<std::uint64_t, Frames> names_;
};

TEST(SymbolNames, NameAnAddressByItsObjectAndPlaceWhereTheFileIsGone) {
  history::History history;
  history.modules = {{.bias = 0x6000, .start = 0x7000, .end = 0x8000, .path = "/nowhere/libmodel.so", .since_ns = 100}};
  SymbolNames names{history, 0};

  EXPECT_EQ(names.frames_at(0x7010, 200), (Frames{{.name = "libmodel.so+0x100f", .file = "/nowhere/libmodel.so"}}));
  EXPECT_EQ(names.frames_at(0x9000, 200)[0].file, "??");
  EXPECT_FALSE(names.notes().empty());
}

// This very function, in this very program.
TEST(SymbolNames, NameAFunctionWithItsFileAndLine) {
  const auto here = reinterpret_cast<std::uint64_t>(&function_of_this_test) + 1;
  SymbolNames names{{}, ::getpid()};

  const Frames frames = names.frames_at(here, 200);

  ASSERT_FALSE(frames.empty());
  EXPECT_NE(frames.back().name.find("function_of_this_test"), std::string::npos);
  EXPECT_TRUE(frames.back().file.ends_with("names_test.cpp"));
  EXPECT_GT(frames.back().line, 0U);
}

TEST(NameStack, PutsInlinedFunctionsInTheirOrder) {
  NamesOfATest names{{{1, {{.name = "inner"}, {.name = "outer"}}}, {2, {{.name = "main"}}}}};

  EXPECT_EQ(name_stack({.addresses = {1, 2}}, names), (Frames{{.name = "inner"}, {.name = "outer"}, {.name = "main"}}));
}

TEST(NameStack, LetsPythonsFramesStandForTheInterpreters) {
  NamesOfATest names{
      {{1, {{.name = "torch_empty"}}}, {2, {{.name = "_PyEval_EvalFrameDefault"}}}, {3, {{.name = "Py_RunMain"}}}}};

  const Frames frames =
      name_stack({.addresses = {1, 2, 3}, .python = {{.name = "forward", .file = "model.py", .line = 3}}}, names);

  EXPECT_EQ(frames, (Frames{{.name = "torch_empty"}, {.name = "forward", .file = "model.py", .line = 3}}));
}

}  // namespace
}  // namespace tidemark::viewer
