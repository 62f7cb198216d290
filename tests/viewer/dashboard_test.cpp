// What the screen of top says, and rules that hold at all sizes.
#include "viewer/tui/dashboard.hpp"
#include "viewer/tui/controls.hpp"
#include "viewer/tui/key_table.hpp"
#include "viewer/tui/layout.hpp"

#include "tests/viewer/dashboard_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace tidemark::viewer {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(Dashboard, SaysWhatASmallTerminalNeeds) {
  EXPECT_EQ(screen({30, 4}), "terminal too small\nhave 30x4\nneed 37x6\n\n");
  EXPECT_EQ(screen({5, 1}), "term…\n");
  EXPECT_EQ(screen({0, 0}), "");
}

TEST_F(Dashboard, TellsHowToBeginWhenThereIsNothing) {
  view_ = {.host = "node7", .time_ns = kSampleNow, .processes = {}, .hidden = {}, .skipped = {}};
  state_ = {};
  sample_.waiting = 2;

  EXPECT_THAT(screen({80, 24}), HasSubstr("nothing yet; start one: tidemark run -- CMD"));
  EXPECT_THAT(screen({80, 24}), HasSubstr("2 not allocating yet"));
}

TEST_F(Dashboard, ShowsTheEffectOfAKeyInsteadOfTheKeys) {
  state_.message = "4711 cuda:0: peak 3.000 GiB -> 1.000 GiB (allocated now)";

  EXPECT_THAT(screen({80, 24}), HasSubstr("peak 3.000 GiB -> 1.000 GiB"));
  EXPECT_THAT(screen({80, 24}), Not(HasSubstr("q quit")));
}

TEST_F(Dashboard, ShowsAPeakOfOnesOwnWithTheRowItIsOf) {
  const PeakFigures peaks{.seconds = 60, .allocated = (2_GiB).count(), .reserved = (4_GiB).count(), .held = {}};
  sample_.marks = {{.key = {.id = "9f3c01aa", .device = "cuda:0"}, .peaks = peaks, .since_ns = kSampleNow}};
  state_.selected = sample_.marks.front().key;

  EXPECT_THAT(screen({80, 24}), HasSubstr("\nmy peak 2.000 GiB (held -) since 14:13:20  cached 3.000 GiB"));
  state_.selected.device = "cuda:1";
  EXPECT_THAT(screen({80, 24}), Not(HasSubstr("(held -)")));
}

TEST_F(Dashboard, OffersNoResetWhenReadonly) {
  EXPECT_THAT(screen({80, 24}), HasSubstr("r reset  "));
  state_.readonly = true;
  EXPECT_THAT(screen({80, 24}), Not(HasSubstr("r reset  ")));
  EXPECT_THAT(screen({80, 24}), Not(HasSubstr("e empty  ")));
}

TEST_F(Dashboard, AsksInThePlaceOfTheKeys) {
  state_.question = Question{.deed = Deed::ResetPeak, .rows = {}, .whose = "4711 cuda:0"};
  EXPECT_THAT(screen({80, 24}), HasSubstr("\nreset the peaks of 4711 cuda:0? y: yes, any other key: no\n"));

  state_.question = Question{.deed = Deed::EmptyCache, .rows = {}, .whose = "4711 cuda:0"};
  EXPECT_THAT(screen({80, 24}), HasSubstr("\ngive the cached memory of 4711 cuda:0 back? y: yes, any other key: no\n"));
  EXPECT_THAT(screen({40, 10}), HasSubstr("\ngive the cached memory of 4711 cuda… y/N\n"));
}

TEST_F(Dashboard, ShowsWhatIsTypedAndItsEndWhereThatIsLong) {
  state_.prompt = Prompt{.kind = Prompt::Kind::Filter, .text = U"train", .before = "", .origin = {}};
  EXPECT_THAT(screen({80, 24}), HasSubstr("\nfilter: train\n"));

  state_.prompt->text = std::u32string(100, U'x') + U"the end";
  EXPECT_THAT(screen({40, 10}), HasSubstr("xxxthe end\n"));
}

TEST_F(Dashboard, SaysInItsHeadWhatTheTableLeavesOut) {
  state_.choice.filter = "cuda";
  state_.paused = true;
  state_.tags = {state_.selected};
  take_sample(state_, sample_, {80, 24});

  const std::string text = screen({80, 24});
  EXPECT_THAT(text, HasSubstr("tidemark  PAUSED  node7  14:13:20  3 live  3 with 'cuda'  1 tagged  1 dead"));
  EXPECT_THAT(text, Not(HasSubstr("mtia_train")));
  EXPECT_THAT(text, HasSubstr("\n*   4711 cuda:0"));

  state_.choice.filter = "no such thing";
  take_sample(state_, sample_, {80, 24});
  EXPECT_THAT(screen({80, 24}), HasSubstr("no row matches the filter"));
}

TEST_F(Dashboard, MarksTheColumnItIsSortedBy) {
  state_.choice.sort = ColumnId::Allocated;
  EXPECT_THAT(screen({80, 24}), HasSubstr("▼ALLOCATED"));
  state_.choice.inverted = true;
  EXPECT_THAT(screen({80, 24}), HasSubstr("▲ALLOCATED"));
  state_.charset = Charset::Ascii;
  EXPECT_THAT(screen({80, 24}), HasSubstr("^ALLOCATED"));
}

TEST_F(Dashboard, DrawsATreeWithItsBranches) {
  sample_.parents = {std::nullopt, 0, 0, std::nullopt};
  state_.choice.tree = true;

  const std::string text = screen({80, 24});
  EXPECT_THAT(text, HasSubstr(" ├─ mtia_train\n"));
  EXPECT_THAT(text, HasSubstr(" └─ (stopped) w"));
}

TEST_F(Dashboard, CountsTheDevicesThatItHasNoLinesFor) {
  for (std::uint32_t i = 2; i < 9; ++i) {
    view_.processes.push_back(sample_process(
        {.id = std::to_string(20000000 + i), .pid = 100 + i, .command = "rank"},
        {sample_device(segment::Backend::Cuda, i, {.allocated = 1_GiB, .peak = 1_GiB, .reserved = 1_GiB})}));
  }
  EXPECT_THAT(screen({80, 24}), HasSubstr("\nand 7 more devices\n"));
  EXPECT_THAT(screen({80, 60}), Not(HasSubstr("more devices")));
}

TEST_F(Dashboard, MeasuresUseAgainstTheLimitWhereThereIsOne) {
  state_.selected = {};
  EXPECT_THAT(screen({120, 24}), HasSubstr("████      50% "));
  view_.processes[0].devices[0].figures.limit = (5_GiB).count();
  EXPECT_THAT(screen({120, 24}), HasSubstr("██████▍   80%L"));
}

TEST_F(Dashboard, HasAHelpPageThatCanBeReadAtAnySize) {
  state_.help = true;
  for (const Size size : {Size{80, 60}, Size{80, 24}, kSmallestScreen}) {
    std::string seen;
    for (state_.scroll = 0; state_.scroll < 120; ++state_.scroll) {
      seen += screen(size);
    }
    for (const KeyBinding& binding : kKeyBindings) {
      EXPECT_THAT(seen, HasSubstr(std::string{binding.name} + " ")) << size.rows;
      EXPECT_THAT(seen, HasSubstr(std::string{binding.help.substr(0, 9)})) << size.rows;
    }
  }
}

// Numbers of a full-size screen: a smaller one may leave some out, but shows none that is not among them.
std::set<std::string> sizes_in(const std::string& text) {
  std::set<std::string> sizes;
  for (std::size_t at = text.find("iB"); at != std::string::npos; at = text.find("iB", at + 1)) {
    std::size_t begin = at - 2;  // the blank before "GiB"
    while (begin > 0 && (std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0 || text[begin - 1] == '.')) {
      --begin;
    }
    sizes.insert(text.substr(begin, at + 2 - begin));
  }
  return sizes;
}

TEST_F(Dashboard, CutsNoNumberAndStaysInsideAtAnySize) {
  for (const UiState& screen_state : all_screens(state_)) {
    state_ = screen_state;
    const std::set<std::string> all = sizes_in(screen({500, 200}));
    for (int columns = 1; columns <= 500; columns += columns < 130 ? 1 : 37) {
      for (const int rows : {1, 2, 5, 6, 7, 11, 12, 16, 17, 22, 24, 60, 200}) {
        for (const std::size_t scroll : {std::size_t{0}, std::size_t{1000}}) {
          state_.scroll = scroll;
          const Canvas canvas = drawn({columns, rows});
          ASSERT_EQ(canvas.size(), (Size{columns, rows}));
          const std::string text = canvas.text();
          ASSERT_EQ(std::count(text.begin(), text.end(), '\n'), rows);
          for (const std::string& size : sizes_in(text)) {
            ASSERT_TRUE(all.contains(size)) << size << " at " << columns << "x" << rows << "\n" << text;
          }
        }
      }
    }
  }
}

TEST_F(Dashboard, HasColumnsThatDoNotOverlap) {
  // The widest value of each column, everywhere.
  view_.processes = {sample_process(
      {.id = "ffffffff", .pid = 4194304, .command = "x", .label = "", .state = segment::ProcessState::Stopped},
      {sample_device(
          segment::Backend::Cuda, 999,
          {.allocated = Bytes{1072693248}, .peak = 1023_MiB, .reserved = 1023_MiB, .hits = 1, .misses = 0})})};
  take_sample(state_, sample_, {80, 24});
  for (int columns = kSmallestScreen.columns; columns <= 200; ++columns) {
    const std::string text = screen({columns, 8});
    EXPECT_THAT(text, HasSubstr("4194304 cuda:999 ")) << columns;
    EXPECT_THAT(text, testing::ContainsRegex("cuda:999 (stopped  )?( 1023 MiB )? 1023 MiB  1023 MiB")) << text;
  }
}

TEST_F(Dashboard, DrawsNoWideCharacterHalf) {
  view_.processes[0].snapshot.identity.label = "模型模型模型模型模型模型模型模型模型模型模型模型";
  for (int columns = kSmallestScreen.columns; columns < 100; ++columns) {
    const Canvas canvas = drawn({columns, 24});
    for (int row = 0; row < 24; ++row) {
      for (int column = 0; column < columns; ++column) {
        const bool wide = columns_of(canvas.at(column, row).glyph) == 2;
        const bool half_on_the_right = column + 1 < columns && canvas.at(column + 1, row).glyph == 0;
        ASSERT_EQ(wide, half_on_the_right) << columns;
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::viewer
