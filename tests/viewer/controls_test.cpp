// What keys do to the screen of top, and what they ask for.
#include "viewer/tui/controls.hpp"
#include "viewer/tui/columns.hpp"
#include "viewer/tui/dashboard.hpp"
#include "viewer/tui/footer.hpp"
#include "viewer/tui/selection.hpp"

#include "tests/viewer/sample_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

namespace tidemark::viewer {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

class Controls : public testing::Test {
 protected:
  void SetUp() override { take_sample(state_, sample_, size_); }

  Errand press(const KeyPress& press) { return take_key(state_, sample_, press, size_); }
  // The errand of the last of them.
  Errand type(std::u32string_view keys) {
    Errand errand;
    for (const char32_t key : keys) {
      errand = press(character(key));
    }
    return errand;
  }
  [[nodiscard]] std::size_t shown() const { return rows_of(sample_.view, state_.choice, sample_.parents).size(); }

  Sample sample_{.view = sample_view()};
  UiState state_;
  Size size_{80, 24};
};

TEST_F(Controls, KeepTheSelectionOnItsRowWhileOthersGo) {
  type(U"jj");
  ASSERT_EQ(state_.selected, (RowKey{"00c0ffee", "mtia:0"}));

  sample_.view.processes.erase(sample_.view.processes.begin());
  take_sample(state_, sample_, size_);

  EXPECT_EQ(state_.selected, (RowKey{"00c0ffee", "mtia:0"}));
}

TEST_F(Controls, GiveTheSelectionToTheNeighbourOfARowThatWent) {
  type(U"jj");

  sample_.view.processes.erase(sample_.view.processes.begin() + 1);
  take_sample(state_, sample_, size_);
  EXPECT_EQ(state_.selected, (RowKey{"11112222", ""}));

  sample_.view.processes.clear();
  take_sample(state_, sample_, size_);
  EXPECT_EQ(state_.selected, RowKey{});
  for (const KeyBinding& binding : kKeyBindings) {  // nothing is there to be acted on
    EXPECT_TRUE(press(binding.keys[0]).rows.empty()) << binding.name;
    EXPECT_FALSE(state_.question.has_value()) << binding.name;
    press({KeyCode::Escape, 0});
  }
}

TEST_F(Controls, ScrollSoThatTheSelectionIsSeen) {
  for (int i = 0; i < 200; ++i) {
    sample_.view.processes.push_back(
        sample_process({.id = std::to_string(10000000 + i), .pid = 1000 + i, .command = "many"}, {}));
  }
  const auto window = visible_rows(sample_.view, size_);
  for (const KeyCode code : {KeyCode::Down, KeyCode::PageDown, KeyCode::PageDown, KeyCode::End, KeyCode::Up,
                             KeyCode::PageUp, KeyCode::Home}) {
    press({code, 0});
    EXPECT_GE(state_.selected_row, state_.first_row);
    EXPECT_LT(state_.selected_row, state_.first_row + window);
    EXPECT_LE(state_.first_row + window, shown());
  }
  press({KeyCode::End, 0});
  EXPECT_EQ(state_.selected.id, "10000199");
  press({KeyCode::PageUp, 0});
  EXPECT_EQ(state_.selected_row, shown() - 1 - window);
}

TEST_F(Controls, ResetThePeaksOfTheSelectedRowAtOnce) {
  const Errand errand = type(U"r");

  EXPECT_EQ(errand.kind, Errand::Kind::ResetPeak);
  EXPECT_THAT(errand.rows, ElementsAre(RowKey{"9f3c01aa", "cuda:0"}));
}

TEST_F(Controls, ResetPeaksOfSeveralRowsOnlyOnceThatIsConfirmed) {
  type(U" j ");
  EXPECT_EQ(type(U"r").kind, Errand::Kind::None);
  EXPECT_EQ(type(U"n").kind, Errand::Kind::None);
  EXPECT_EQ(state_.message, "nothing was reset");
  EXPECT_EQ(type(U"rq").kind, Errand::Kind::None);

  EXPECT_EQ(type(U"ry").rows.size(), 2U);
}

TEST_F(Controls, EmptyACacheOnlyOnceThatIsConfirmed) {
  EXPECT_EQ(type(U"e").kind, Errand::Kind::None);
  EXPECT_EQ(press({KeyCode::Enter, 0}).kind, Errand::Kind::None);
  EXPECT_EQ(state_.message, "nothing was given back");
  EXPECT_EQ(type(U"jey").kind, Errand::Kind::EmptyCache);
}

TEST_F(Controls, AskAboutTheRowThatWasSelectedThen) {
  type(U"e");
  sample_.view.processes.erase(sample_.view.processes.begin());
  take_sample(state_, sample_, size_);

  EXPECT_THAT(type(U"y").rows, ElementsAre(RowKey{"9f3c01aa", "cuda:0"}));
}

TEST_F(Controls, ActOnAllTaggedRows) {
  type(U" j");  // tags the first, skips the second
  EXPECT_THAT(state_.tags, ElementsAre(RowKey{"9f3c01aa", "cuda:0"}));
  type(U" ");
  const Errand errand = type(U"ry");
  EXPECT_THAT(errand.rows, ElementsAre(RowKey{"9f3c01aa", "cuda:0"}, RowKey{"00c0ffee", "mtia:0"}));

  type(U"g ");  // not tagged any more
  EXPECT_THAT(state_.tags, ElementsAre(RowKey{"00c0ffee", "mtia:0"}));
  type(U"U");
  EXPECT_TRUE(state_.tags.empty());
}

TEST_F(Controls, ForgetTagsOfRowsThatWent) {
  type(U" ");
  sample_.view.processes.erase(sample_.view.processes.begin());
  take_sample(state_, sample_, size_);

  EXPECT_TRUE(state_.tags.empty());
}

TEST_F(Controls, ChangeNothingWhenReadonly) {
  state_.readonly = true;

  for (const char32_t key : {U'r', U'e'}) {
    EXPECT_EQ(type({&key, 1}).kind, Errand::Kind::None);
    EXPECT_FALSE(state_.question.has_value());
    EXPECT_THAT(state_.message, HasSubstr("nothing is changed"));
  }
  EXPECT_EQ(type(U"m").kind, Errand::Kind::MarkPeak);
}

TEST_F(Controls, SortByEachColumnThatIsSeenAndThenNotAtAll) {
  for (const PlacedColumn& place : columns_for(size_.columns)) {
    type(U">");
    EXPECT_EQ(state_.choice.sort, place.id);
  }
  type(U">");
  EXPECT_EQ(state_.choice.sort, std::nullopt);
  type(U"<");
  EXPECT_EQ(state_.choice.sort, ColumnId::Title);
  type(U"I");
  EXPECT_TRUE(state_.choice.inverted);
  press({KeyCode::F6, 0});
  EXPECT_EQ(state_.choice.sort, std::nullopt);
  EXPECT_EQ(state_.selected, (RowKey{"9f3c01aa", "cuda:0"}));
}

TEST_F(Controls, FilterWhileOneTypes) {
  type(U"fmtia");
  EXPECT_EQ(shown(), 1U);
  EXPECT_EQ(state_.selected, (RowKey{"00c0ffee", "mtia:0"}));
  press({KeyCode::Backspace, 0});
  press({KeyCode::Backspace, 0});
  press({KeyCode::Backspace, 0});
  press({KeyCode::Backspace, 0});
  EXPECT_EQ(shown(), 5U);
  type(U"q 'x'");  // no command, but text
  EXPECT_EQ(shown(), 0U);
  type(
      U"\x15"
      U"cuda");
  press({KeyCode::Enter, 0});
  EXPECT_FALSE(state_.prompt.has_value());
  EXPECT_EQ(shown(), 3U);

  press({KeyCode::Escape, 0});
  EXPECT_EQ(shown(), 5U);
}

TEST_F(Controls, TakeAFilterBackWithEsc) {
  type(U"fcuda");
  press({KeyCode::Enter, 0});
  type(U"fxyz");
  press({KeyCode::Escape, 0});

  EXPECT_EQ(state_.choice.filter, "cuda");
}

TEST_F(Controls, SearchWhileOneTypesAndThenForTheNext) {
  type(U"/mtia");
  EXPECT_EQ(state_.selected.id, "00c0ffee");
  press({KeyCode::Escape, 0});
  EXPECT_EQ(state_.selected.id, "9f3c01aa");

  type(U"/cuda:0");
  press({KeyCode::Enter, 0});
  EXPECT_EQ(state_.selected, (RowKey{"9f3c01aa", "cuda:0"}));
  type(U"n");
  EXPECT_EQ(state_.selected, (RowKey{"deadbeef", "cuda:0"}));
  type(U"n");
  EXPECT_EQ(state_.selected, (RowKey{"9f3c01aa", "cuda:0"}));
  type(U"N");
  EXPECT_EQ(state_.selected, (RowKey{"deadbeef", "cuda:0"}));
}

TEST_F(Controls, SayWhenNothingIsFound) {
  type(U"n");
  EXPECT_THAT(state_.message, HasSubstr("nothing was searched for yet"));
  type(U"/nobody");
  press({KeyCode::Enter, 0});
  EXPECT_EQ(state_.message, "no row has 'nobody' in it");
  type(U"n");
  EXPECT_TRUE(state_.message_is_error);
}

TEST_F(Controls, StepThroughIntervals) {
  type(U"-");
  EXPECT_EQ(state_.interval, milliseconds{2000});
  type(U"---------");
  EXPECT_EQ(state_.interval, milliseconds{60000});
  type(U"++++++++++++");
  EXPECT_EQ(state_.interval, milliseconds{100});
  state_.interval = milliseconds{1500};  // -i 1.5
  type(U"+");
  EXPECT_EQ(state_.interval, milliseconds{1000});
}

TEST_F(Controls, ScrollAPageAndNotTheTableBehindIt) {
  type(U"?jjj");
  EXPECT_TRUE(state_.help);
  EXPECT_EQ(state_.scroll, 3U);
  EXPECT_EQ(state_.selected_row, 0U);
  type(U"G");
  const std::size_t furthest = state_.scroll;
  type(U"j");
  EXPECT_EQ(state_.scroll, furthest);
  type(U"g");
  EXPECT_EQ(state_.scroll, 0U);
  press({KeyCode::Escape, 0});
  EXPECT_FALSE(state_.help);
}

TEST_F(Controls, OpenPagesAndCloseThemFromTheTop) {
  press({KeyCode::Tab, 0});
  EXPECT_TRUE(state_.devices);
  press({KeyCode::Enter, 0});  // there is no row to open
  EXPECT_FALSE(state_.detail.has_value());
  press({KeyCode::Tab, 0});
  EXPECT_FALSE(state_.devices);

  type(U"j");
  press({KeyCode::Enter, 0});
  EXPECT_EQ(state_.detail, (RowKey{"9f3c01aa", "cuda:1"}));
  type(U"?");
  press({KeyCode::Escape, 0});
  EXPECT_TRUE(state_.detail.has_value());
  press({KeyCode::Escape, 0});
  EXPECT_FALSE(state_.detail.has_value());
  EXPECT_EQ(state_.selected_row, 1U);
}

TEST_F(Controls, ActInDetailsOnTheRowThatIsSeen) {
  type(U" ");                  // tagged: the first
  press({KeyCode::Enter, 0});  // opened: the second

  EXPECT_THAT(type(U"r").rows, ElementsAre(RowKey{"9f3c01aa", "cuda:1"}));
}

TEST_F(Controls, LeavePagesToTypeWhatChangesTheTable) {
  press({KeyCode::Tab, 0});
  type(U"fmtia");

  EXPECT_FALSE(state_.devices);
  EXPECT_EQ(shown(), 1U);
}

TEST_F(Controls, SelectARowByAClickAndMoveWithTheWheel) {
  press({.code = KeyCode::Click, .column = 5, .row = 7});  // head, three devices, titles, then rows
  EXPECT_EQ(state_.selected, (RowKey{"00c0ffee", "mtia:0"}));
  press({.code = KeyCode::Click, .column = 5, .row = 10});  // below the last row
  EXPECT_EQ(state_.selected, (RowKey{"00c0ffee", "mtia:0"}));
  press({.code = KeyCode::WheelUp, .column = 5, .row = 7});
  EXPECT_EQ(state_.selected_row, 0U);
  press({.code = KeyCode::WheelDown, .column = 5, .row = 7});
  EXPECT_EQ(state_.selected_row, 3U);
}

TEST_F(Controls, SortByAClickOnATitleAndInvertByAnother) {
  for (const PlacedColumn& place : columns_for(size_.columns)) {
    const KeyPress on_title{.code = KeyCode::Click, .column = place.at, .row = 4};
    press(on_title);
    EXPECT_EQ(state_.choice.sort, place.id);
    EXPECT_FALSE(state_.choice.inverted);
    press(on_title);
    EXPECT_TRUE(state_.choice.inverted);
    press(on_title);
    EXPECT_FALSE(state_.choice.inverted);
  }
}

TEST_F(Controls, DoWhatAKeyInTheFooterDoesByAClick) {
  std::size_t clicked = 0;
  for (const FooterItem& item : footer_keys(state_, size_.columns)) {
    state_ = {};
    take_sample(state_, sample_, size_);
    const Errand errand = press({.code = KeyCode::Click, .column = item.column, .row = size_.rows - 1});
    const bool has_effect = errand.kind != Errand::Kind::None || state_.help || state_.detail || state_.devices ||
                            state_.question || state_.choice.sort;
    EXPECT_TRUE(has_effect) << item.text;
    ++clicked;
  }
  EXPECT_GE(clicked, 7U);
  type(U"?");
  press({.code = KeyCode::Click, .column = 0, .row = size_.rows - 1});  // back
  EXPECT_FALSE(state_.help);
}

TEST_F(Controls, PauseAndLeave) {
  type(U"z");
  EXPECT_TRUE(state_.paused);
  type(U"z");
  EXPECT_FALSE(state_.paused);
  EXPECT_EQ(press({KeyCode::F5, 0}).kind, Errand::Kind::Redraw);
  EXPECT_EQ(press(character(U'~')).kind, Errand::Kind::None);
  EXPECT_EQ(type(U"q").kind, Errand::Kind::Leave);
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
