// The screen of top: goldens at the usual sizes, rules at all sizes, and what keys do to it.
#include "viewer/tui/dashboard.hpp"
#include "viewer/tui/key_table.hpp"
#include "viewer/tui/process_table.hpp"

#include "tests/viewer/sample_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <set>

namespace tidemark::viewer {
namespace {

using testing::HasSubstr;
using testing::Not;

class Dashboard : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
    setenv("TZ", "UTC", 1);
    tzset();
    move_selection(state_, view_, 0, {80, 24});
  }

  [[nodiscard]] std::string screen(Size size, Charset charset = Charset::Utf8) const {
    return draw_dashboard(view_, state_, size, charset).text();
  }

  View view_ = sample_view();
  DashboardState state_;
};

TEST_F(Dashboard, At80x24) {
  EXPECT_EQ(screen({80, 24}), R"(tidemark  node7  14:13:20  3 live  1 dead  1 unreadable  every 1 s
cuda:0 Simulated CUDA device      [████████        ] held 4.000 GiB of 8.000 GiB
cuda:1 Simulated CUDA device      [▋               ] held 302.0 MiB of 8.000 GiB
mtia:0 Simulated MTIA device      [██████████████▏ ] held 7.078 GiB of 8.000 GiB
    PID DEVICE   STATE   ALLOCATED      PEAK  RESERVED  HIT% LABEL/COMMAND
   4711 cuda:0   live    1.000 GiB 3.000 GiB 4.000 GiB  99.9 eval: python3 trai…
   4711 cuda:1   live    300.0 MiB 300.0 MiB 302.0 MiB   0.0 eval: python3 trai…
   4712 mtia:0   live     1023 MiB 7.000 GiB 7.078 GiB  50.0 mtia_train
4194303 -        stopped         -         -         -     - waiting
     99 cuda:0   killed    512 B   1.000 KiB 2.000 MiB   0.0 crashed







4711 cuda:0 Simulated CUDA device eval: python3 train.py
allocated  1.000 GiB ████▊                                  of 8.000 GiB
peak       3.000 GiB ██████████████▎                        since 14:12:20
reserved   4.000 GiB ███████████████████
hit 99.9 %  hits 9,990  misses 10  passed through 0  driver 12.3 ms
cached 3.000 GiB  held 4.000 GiB  ooms 0  retries 0  mode cache  id 9f3c01aa
q quit  r reset peak  + faster  - slower  ? help
)");
}

TEST_F(Dashboard, At120x40) {
  EXPECT_EQ(screen({120, 40}), R"(tidemark  node7  14:13:20  3 live  1 dead  1 unreadable  every 1 s
cuda:0 Simulated CUDA device                                      [████████████            ] held 4.000 GiB of 8.000 GiB
cuda:1 Simulated CUDA device                                      [▉                       ] held 302.0 MiB of 8.000 GiB
mtia:0 Simulated MTIA device                                      [█████████████████████▎  ] held 7.078 GiB of 8.000 GiB
ID           PID DEVICE   STATE   ALLOCATED      PEAK  RESERVED    CACHED      HELD  HIT% LABEL/COMMAND
9f3c01aa    4711 cuda:0   live    1.000 GiB 3.000 GiB 4.000 GiB 3.000 GiB 4.000 GiB  99.9 eval: python3 train.py
9f3c01aa    4711 cuda:1   live    300.0 MiB 300.0 MiB 302.0 MiB 2.000 MiB 302.0 MiB   0.0 eval: python3 train.py
00c0ffee    4712 mtia:0   live     1023 MiB 7.000 GiB 7.078 GiB 6.079 GiB 7.078 GiB  50.0 mtia_train
11112222 4194303 -        stopped         -         -         -         -         -     - waiting
deadbeef      99 cuda:0   killed    512 B   1.000 KiB 2.000 MiB 2.000 MiB 2.000 MiB   0.0 crashed























4711 cuda:0 Simulated CUDA device eval: python3 train.py
allocated  1.000 GiB ███████▌                                                     of 8.000 GiB
peak       3.000 GiB ██████████████████████▌                                      since 14:12:20
reserved   4.000 GiB ██████████████████████████████
hit 99.9 %  hits 9,990  misses 10  passed through 0  driver 12.3 ms  free wait 850 ns
cached 3.000 GiB  held 4.000 GiB  ooms 0  retries 0  mode cache  id 9f3c01aa
q quit  r reset peak  + faster  - slower  ? help
)");
}

TEST_F(Dashboard, At40x10) {
  EXPECT_EQ(screen({40, 10}), R"(tidemark  node7  14:13:20  3 live
    PID DEVICE   ALLOCATED      PEAK
   4711 cuda:0   1.000 GiB 3.000 GiB
   4711 cuda:1   300.0 MiB 300.0 MiB
   4712 mtia:0    1023 MiB 7.000 GiB
4194303 -                -         -
     99 cuda:0     512 B   1.000 KiB


q quit  r reset peak  + faster  - slower
)");
}

TEST_F(Dashboard, InAscii) {
  EXPECT_EQ(screen({80, 16}, Charset::Ascii), R"(tidemark  node7  14:13:20  3 live  1 dead  1 unreadable  every 1 s
cuda:0 Simulated CUDA device      [########        ] held 4.000 GiB of 8.000 GiB
cuda:1 Simulated CUDA device      [-               ] held 302.0 MiB of 8.000 GiB
mtia:0 Simulated MTIA device      [##############  ] held 7.078 GiB of 8.000 GiB
    PID DEVICE   STATE   ALLOCATED      PEAK  RESERVED  HIT% LABEL/COMMAND
   4711 cuda:0   live    1.000 GiB 3.000 GiB 4.000 GiB  99.9 eval: python3 trai~
   4711 cuda:1   live    300.0 MiB 300.0 MiB 302.0 MiB   0.0 eval: python3 trai~
   4712 mtia:0   live     1023 MiB 7.000 GiB 7.078 GiB  50.0 mtia_train
4194303 -        stopped         -         -         -     - waiting
4711 cuda:0 Simulated CUDA device eval: python3 train.py
allocated  1.000 GiB ####-                                  of 8.000 GiB
peak       3.000 GiB ##############                         since 14:12:20
reserved   4.000 GiB ###################
hit 99.9 %  hits 9,990  misses 10  passed through 0  driver 12.3 ms
cached 3.000 GiB  held 4.000 GiB  ooms 0  retries 0  mode cache  id 9f3c01aa
q quit  r reset peak  + faster  - slower  ? help
)");
}

TEST_F(Dashboard, SaysWhatASmallTerminalNeeds) {
  EXPECT_EQ(screen({30, 4}), "terminal too small\nhave 30x4\nneed 36x6\n\n");
  EXPECT_EQ(screen({5, 1}), "term…\n");
  EXPECT_EQ(screen({0, 0}), "");
}

TEST_F(Dashboard, TellsHowToBeginWhenThereIsNothing) {
  view_ = {.host = "node7", .time_ns = kSampleNow, .processes = {}, .hidden = {}, .skipped = {}};
  state_ = {};
  state_.waiting = 2;

  EXPECT_THAT(screen({80, 24}), HasSubstr("nothing yet; start one: tidemark run -- CMD"));
  EXPECT_THAT(screen({80, 24}), HasSubstr("2 not allocating yet"));
}

TEST_F(Dashboard, ShowsTheEffectOfAKeyInsteadOfTheKeys) {
  state_.message = "4711 cuda:0: peak 3.000 GiB -> 1.000 GiB (allocated now)";

  EXPECT_THAT(screen({80, 24}), HasSubstr("peak 3.000 GiB -> 1.000 GiB"));
  EXPECT_THAT(screen({80, 24}), Not(HasSubstr("q quit")));
}

TEST_F(Dashboard, OffersNoResetWhenReadonly) {
  EXPECT_THAT(screen({80, 24}), HasSubstr("r reset peak"));
  state_.readonly = true;
  EXPECT_THAT(screen({80, 24}), Not(HasSubstr("r reset peak")));
}

TEST_F(Dashboard, HelpListsEveryKey) {
  state_.help = true;
  for (const KeyBinding& binding : kKeyBindings) {
    EXPECT_THAT(screen({120, 40}), HasSubstr(std::string{binding.help}));
  }
}

TEST_F(Dashboard, KeepsTheSelectionOnItsRowWhileOthersGo) {
  move_selection(state_, view_, 2, {80, 24});
  ASSERT_EQ(state_.selected, (RowKey{"00c0ffee", "mtia:0"}));

  view_.processes.erase(view_.processes.begin());
  move_selection(state_, view_, 0, {80, 24});

  EXPECT_EQ(state_.selected, (RowKey{"00c0ffee", "mtia:0"}));
}

TEST_F(Dashboard, GivesTheSelectionToTheNeighbourOfARowThatWent) {
  move_selection(state_, view_, 2, {80, 24});

  view_.processes.erase(view_.processes.begin() + 1);
  move_selection(state_, view_, 0, {80, 24});
  EXPECT_EQ(state_.selected, (RowKey{"11112222", ""}));

  view_.processes.clear();
  move_selection(state_, view_, 0, {80, 24});
  EXPECT_EQ(state_.selected, RowKey{});
}

TEST_F(Dashboard, ScrollsSoThatTheSelectionIsSeen) {
  for (int i = 0; i < 200; ++i) {
    view_.processes.push_back(
        sample_process({.id = std::to_string(10000000 + i), .pid = 1000 + i, .command = "many"}, {}));
  }
  const Size size{80, 24};
  for (const std::ptrdiff_t by : {0, 1, 50, 1000, -1, -60, -1000}) {
    move_selection(state_, view_, by, size);
    EXPECT_GE(state_.selected_row, state_.first_row);
    EXPECT_LT(state_.selected_row, state_.first_row + visible_rows(view_, size));
    EXPECT_LE(state_.first_row + visible_rows(view_, size), rows_of(view_).size());
  }
  move_selection(state_, view_, 1000, size);
  EXPECT_THAT(screen(size), HasSubstr("1199"));
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
  const std::set<std::string> all = sizes_in(screen({500, 200}));
  ASSERT_TRUE(all.contains("3.000 GiB"));
  for (int columns = 1; columns <= 200; columns += columns < 60 ? 1 : 7) {
    for (const int rows : {1, 2, 3, 5, 6, 7, 11, 12, 13, 15, 16, 17, 24, 60, 200}) {
      const Canvas canvas = draw_dashboard(view_, state_, {columns, rows}, Charset::Utf8);
      ASSERT_EQ(canvas.size(), (Size{columns, rows}));
      const std::string text = canvas.text();
      ASSERT_EQ(std::count(text.begin(), text.end(), '\n'), rows);
      for (const std::string& size : sizes_in(text)) {
        ASSERT_TRUE(all.contains(size)) << size << " at " << columns << "x" << rows << "\n" << text;
      }
    }
  }
}

TEST_F(Dashboard, HasColumnsThatDoNotOverlap) {
  // The widest value of each column, everywhere.
  view_.processes = {sample_process(
      {.id = "ffffffff", .pid = 4194304, .command = "x", .state = segment::ProcessState::Stopped},
      {sample_device(
          segment::Backend::Cuda, 999,
          {.allocated = Bytes{1072693248}, .peak = 1023_MiB, .reserved = 1023_MiB, .hits = 1, .misses = 0})})};
  move_selection(state_, view_, 0, {80, 24});
  for (int columns = 36; columns <= 130; ++columns) {
    const std::string text = screen({columns, 8});
    EXPECT_THAT(text, HasSubstr("4194304 cuda:999")) << columns;
    EXPECT_THAT(text, testing::ContainsRegex("cuda:999 (stopped )? *1023 MiB  1023 MiB")) << text;
  }
}

TEST_F(Dashboard, DrawsNoWideCharacterHalf) {
  view_.processes[0].snapshot.identity.label = "模型模型模型模型模型模型模型模型模型模型模型模型";
  for (int columns = 36; columns < 100; ++columns) {
    const Canvas canvas = draw_dashboard(view_, state_, {columns, 24}, Charset::Utf8);
    for (int row = 0; row < 24; ++row) {
      for (int column = 0; column < columns; ++column) {
        const bool wide = columns_of(canvas.at(column, row).glyph) == 2;
        const bool half_on_the_right = column + 1 < columns && canvas.at(column + 1, row).glyph == 0;
        ASSERT_EQ(wide, half_on_the_right) << columns;
      }
    }
  }
}

TEST(Canvas, CutsOffWhatIsOutside) {
  Canvas canvas({4, 2}, Charset::Ascii);

  canvas.put(-2, 0, "abcdef");
  canvas.put(2, 1, "xyz");
  canvas.put(0, 5, "gone");
  canvas.put_glyph(9, 9, U'x');
  canvas.fill_row(7, Style::Bold);

  EXPECT_EQ(canvas.text(), "cdef\n  x~\n");
}

TEST(Canvas, FillsABarByShare) {
  Canvas canvas({10, 1}, Charset::Utf8);
  canvas.put_bar(0, 0, 10, 25, 100, Style::Normal);
  EXPECT_EQ(canvas.text(), "██▌\n");

  Canvas full({4, 1}, Charset::Utf8);
  full.put_bar(0, 0, 4, 200, 100, Style::Normal);
  EXPECT_EQ(full.text(), "████\n");

  Canvas unknown({4, 1}, Charset::Utf8);
  unknown.put_bar(0, 0, 4, 5, 0, Style::Normal);
  EXPECT_EQ(unknown.text(), "\n");
}

TEST(Keys, EachHasOneMeaning) {
  std::set<std::pair<int, char32_t>> seen;
  for (const KeyBinding& binding : kKeyBindings) {
    for (const KeyPress& key : binding.keys) {
      if (key.code != KeyCode::None) {
        EXPECT_TRUE(seen.insert({static_cast<int>(key.code), key.character}).second) << binding.name;
        EXPECT_EQ(action_of(key), binding.action);
      }
    }
  }
  EXPECT_EQ(action_of({}), std::nullopt);
  EXPECT_EQ(action_of(character(U'~')), std::nullopt);
}

}  // namespace
}  // namespace tidemark::viewer
