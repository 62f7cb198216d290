// Processes below those that started them.
#include "viewer/model/tree.hpp"

#include "viewer/render/ps_text.hpp"

#include "tests/viewer/sample_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <clocale>

namespace tidemark::viewer {
namespace {

using testing::HasSubstr;

std::vector<std::size_t> order_of(const std::vector<TreeLine>& lines) {
  std::vector<std::size_t> order;
  for (const TreeLine& line : lines) {
    order.push_back(line.process);
  }
  return order;
}

TEST(Tree, PutsEachProcessBehindItsParent) {
  const std::vector<TreeLine> lines = tree_of({std::nullopt, std::nullopt, 0, 0, 2});

  EXPECT_EQ(order_of(lines), (std::vector<std::size_t>{0, 2, 4, 3, 1}));
  EXPECT_EQ(lines[1].goes_on, (std::vector<bool>{true}));
  EXPECT_EQ(lines[2].goes_on, (std::vector<bool>{true, false}));
  EXPECT_EQ(lines[3].goes_on, (std::vector<bool>{false}));
}

TEST(Tree, CutsACircle) { EXPECT_EQ(order_of(tree_of({1, 0, 2})), (std::vector<std::size_t>{0, 1, 2})); }

TEST(Tree, ClimbsOverProcessesThatAreNotShown) {
  View view = sample_view();
  view.processes[0].snapshot.pid = getpid();
  view.processes[1].snapshot.pid = getppid();

  const auto parents = parents_of(view);

  EXPECT_EQ(parents[0], 1U);
  EXPECT_EQ(parents[1], std::nullopt);
}

TEST(Tree, OfDeadProcessesIsWhatTheySaid) {
  View view = sample_view();
  view.processes[3].snapshot.identity.parent_pid = view.processes[0].snapshot.identity.pid;

  EXPECT_EQ(parents_of(view)[3], 0U);
  view.processes[3].snapshot.identity.start_ticks = 1;  // before the one that has that pid now
  EXPECT_EQ(parents_of(view)[3], std::nullopt);
}

TEST(Tree, IsDrawnBeforeTheNames) {
  ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
  const View view = sample_view();
  const std::vector<TreeLine> tree = tree_of({1, std::nullopt, 1, 0});

  const std::string text = ps_text(view, tree, Charset::Utf8);
  EXPECT_THAT(text, HasSubstr("50.0  mtia_train\n"));
  EXPECT_THAT(text, HasSubstr("99.9  ├─ eval: python3 train.py\n"));
  EXPECT_THAT(text, HasSubstr(" 0.0  │  eval: python3 train.py\n"));
  EXPECT_THAT(text, HasSubstr(" 0.0  │  └─ crashed\n"));
  EXPECT_THAT(text, HasSubstr("   -  └─ waiting\n"));
  EXPECT_THAT(ps_text(view, tree, Charset::Ascii), HasSubstr(" 0.0  |  `- crashed\n"));
}

}  // namespace
}  // namespace tidemark::viewer
