// The graph of top: what it remembers, how time and sizes become dots.
#include "viewer/tui/graph.hpp"
#include "viewer/tui/history.hpp"

#include "shared/base/bytes.hpp"
#include "tests/viewer/sample_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <string>
#include <vector>

namespace tidemark::viewer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

constexpr std::uint64_t kSecond = 1'000'000'000;

HistoryPoint at(std::uint64_t second, std::uint64_t allocated) {
  return {.time_ns = second * kSecond, .is_good_for_ns = 2 * kSecond, .allocated = allocated, .reserved = 0, .peak = 0};
}

// What the graph shows of `allocated`, -1 where it shows nothing.
std::vector<int> steps(const std::vector<HistoryPoint>& points, std::uint64_t now, int dots,
                       milliseconds a_dot = seconds{1}) {
  std::vector<int> found;
  for (const auto& step : in_steps(points, {.now_ns = now * kSecond, .a_dot = a_dot}, dots)) {
    found.push_back(step ? static_cast<int>(step->allocated) : -1);
  }
  return found;
}

TEST(GraphSteps, HaveTheNewestAtTheRight) {
  EXPECT_THAT(steps({at(98, 1), at(99, 2), at(100, 3)}, 100, 3), ElementsAre(1, 2, 3));
  EXPECT_THAT(steps({at(98, 1), at(99, 2), at(100, 3)}, 100, 5), ElementsAre(-1, -1, 1, 2, 3));
  EXPECT_THAT(steps({at(98, 1), at(99, 2), at(100, 3)}, 100, 2), ElementsAre(2, 3));
  EXPECT_THAT(steps({}, 100, 2), ElementsAre(-1, -1));
}

TEST(GraphSteps, ShowTheMostOfWhatFallsIntoOne) {
  EXPECT_THAT(steps({at(97, 5), at(98, 9), at(99, 2), at(100, 3)}, 100, 2, seconds{2}), ElementsAre(9, 3));
}

TEST(GraphSteps, HoldAValueUntilTheNextLook) {
  EXPECT_THAT(steps({at(96, 1), at(98, 2), at(100, 3)}, 100, 5), ElementsAre(1, 1, 2, 2, 3));
}

TEST(GraphSteps, TolerateLooksThatComeLate) {
  std::vector<HistoryPoint> late{at(97, 1), at(98, 2), at(99, 3), at(100, 4)};
  late[1].time_ns += kSecond * 4 / 10;
  late[2].time_ns -= kSecond * 4 / 10;
  EXPECT_THAT(steps(late, 100, 4), ElementsAre(1, 2, 3, 4));
}

// Nobody looked while top was suspended: that is no flat line.
TEST(GraphSteps, LeaveAGapWhereNobodyLooked) {
  EXPECT_THAT(steps({at(90, 1), at(100, 3)}, 100, 11), ElementsAre(1, 1, 1, -1, -1, -1, -1, -1, -1, -1, 3));
  EXPECT_THAT(steps({at(90, 1)}, 100, 4), ElementsAre(-1, -1, -1, -1));
}

TEST(GraphSteps, KnowNothingOfWhatComesLater) {
  EXPECT_THAT(steps({at(99, 1), at(100, 2), at(101, 3)}, 100, 2), ElementsAre(1, 2));
}

TEST(GraphAxis, EndsAtARoundNumberNotFarAboveTheMost) {
  EXPECT_EQ(axis_end((3_GiB).count()), (3_GiB).count());
  EXPECT_EQ(axis_end((3_GiB).count() + 1), (3584_MiB).count());
  EXPECT_EQ(axis_end((1_GiB).count()), (1_GiB).count());
  EXPECT_EQ(axis_end(0), 1024U);
  for (std::uint64_t most = 1024; most < (std::uint64_t{1} << 60); most = most * 3 / 2 + 7) {
    EXPECT_GE(axis_end(most), most);
    EXPECT_LE(axis_end(most), most + most / 4);
  }
  EXPECT_EQ(axis_end(~std::uint64_t{0}), ~std::uint64_t{0});
}

TEST(GraphGlyphs, FollowTheTerminal) {
  EXPECT_EQ(graph_glyphs(Charset::Utf8, "xterm-256color"), GraphGlyphs::Braille);
  EXPECT_EQ(graph_glyphs(Charset::Utf8, "linux"), GraphGlyphs::Blocks);
  EXPECT_EQ(graph_glyphs(Charset::Ascii, "xterm"), GraphGlyphs::Ascii);
  EXPECT_EQ(graph_glyphs(Charset::Utf8, nullptr), GraphGlyphs::Braille);
}

TEST(Graph, ScalesToTheMostAndDrawsNothingWhereNothingIsKnown) {
  ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr);
  Canvas canvas({30, 7}, Charset::Ascii);
  const std::uint64_t gib = (1_GiB).count();
  const std::vector<HistoryPoint> points{
      {.time_ns = 98 * kSecond, .is_good_for_ns = 2 * kSecond, .allocated = gib, .reserved = 4 * gib, .peak = 2 * gib},
      {.time_ns = 99 * kSecond,
       .is_good_for_ns = 2 * kSecond,
       .allocated = 2 * gib,
       .reserved = 4 * gib,
       .peak = 2 * gib},
      {.time_ns = 100 * kSecond, .is_good_for_ns = 2 * kSecond, .allocated = 0, .reserved = 4 * gib, .peak = 2 * gib}};

  draw_graph(canvas, points, {.now_ns = 100 * kSecond, .a_dot = seconds{1}}, GraphGlyphs::Ascii, {.top = 0, .rows = 7});

  EXPECT_EQ(canvas.text(), R"(          # allocated
4.000 GiB+                 ===
         |
         |                 ---
         |                  #
         |                 ##
    0 B  +-20 s ---------- now
)");
}

TEST(Graph, IsLeftOutWhereItHasNoRoom) {
  for (const Size size : {Size{80, 4}, Size{29, 10}}) {
    Canvas canvas(size, Charset::Utf8);
    draw_graph(canvas, {}, {.now_ns = kSecond, .a_dot = seconds{1}}, GraphGlyphs::Braille,
               {.top = 0, .rows = size.rows});
    EXPECT_EQ(canvas.text(), std::string(static_cast<std::size_t>(size.rows), '\n'));
  }
}

class HistoryOf : public testing::Test {
 protected:
  View view_ = sample_view();
  History history_;
};

TEST_F(HistoryOf, EveryRowIsKeptFromTheFirstLook) {
  history_.note(view_, 1 * kSecond, seconds{1});
  view_.processes[0].devices[1].figures.allocated = 7;
  history_.note(view_, 2 * kSecond, seconds{5});

  const auto points = history_.of({"9f3c01aa", "cuda:1"});
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].allocated, (300_MiB).count());
  EXPECT_EQ(points[0].reserved, (302_MiB).count());
  EXPECT_EQ(points[0].is_good_for_ns, 2 * kSecond);
  EXPECT_EQ(points[1].allocated, 7U);
  EXPECT_EQ(points[1].is_good_for_ns, 10 * kSecond);
  EXPECT_EQ(history_.of({"9f3c01aa", "cuda:0"}).size(), 2U);
  EXPECT_TRUE(history_.of({"9f3c01aa", ""}).empty());
}

TEST_F(HistoryOf, ADeadProcessEndsWhereItDied) {
  history_.note(view_, 1 * kSecond, seconds{1});
  view_.processes[1].snapshot.state = segment::ProcessState::Killed;
  history_.note(view_, 2 * kSecond, seconds{1});

  EXPECT_EQ(history_.of({"00c0ffee", "mtia:0"}).size(), 1U);
}

TEST_F(HistoryOf, AProcessThatIsGoneIsForgotten) {
  history_.note(view_, 1 * kSecond, seconds{1});
  view_.processes.erase(view_.processes.begin());
  history_.note(view_, 2 * kSecond, seconds{1});

  EXPECT_TRUE(history_.of({"9f3c01aa", "cuda:0"}).empty());
  EXPECT_EQ(history_.of({"00c0ffee", "mtia:0"}).size(), 2U);
}

TEST_F(HistoryOf, ALongTimeIsKeptInBoundedMemory) {
  for (std::uint64_t look = 0; look < History::kMostPoints + 10; ++look) {
    history_.note(view_, look * kSecond, seconds{1});
  }
  const auto points = history_.of({"00c0ffee", "mtia:0"});
  EXPECT_EQ(points.size(), History::kMostPoints);
  EXPECT_EQ(points.front().time_ns, 10 * kSecond);
}

}  // namespace
}  // namespace tidemark::viewer
