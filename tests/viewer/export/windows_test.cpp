// Peaks of the last minute.
#include "tests/viewer/export/export_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::viewer {
namespace {

using enum BasisWord;
using testing::Optional;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr const char* kWindow = "tidemark_allocated_window_peak_bytes";

PeakWindow::Clock::time_point at(int seconds) { return PeakWindow::Clock::time_point{Seconds{seconds}}; }

TEST(PeakWindow, IsTheHighestOfAMinute) {
  PeakWindow window;
  window.add({.allocated = 5, .reserved = 7, .held = 9}, at(100));
  window.add({.allocated = 8, .reserved = 1, .held = 1}, at(100));
  window.add({.allocated = 6, .reserved = 2, .held = 1}, at(130));

  EXPECT_EQ(window.highest(at(130)), (Peaks{8, 7, 9}));
  EXPECT_EQ(window.highest(at(159)), (Peaks{8, 7, 9}));
  EXPECT_EQ(window.highest(at(160)), (Peaks{6, 2, 1}));
  EXPECT_EQ(window.highest(at(190)), Peaks{});
}

TEST(PeakWindow, IsTheSameForEveryReader) {
  PeakWindow window;
  window.add({.allocated = 5}, at(100));

  EXPECT_EQ(window.highest(at(101)), window.highest(at(101)));
}

TEST(PeakWindow, TakesAPlaceOfAMinuteAgoForNew) {
  PeakWindow window;
  window.add({.allocated = 50}, at(100));
  window.add({.allocated = 5}, at(160));

  EXPECT_EQ(window.highest(at(160)).allocated, 5U);
}

class WindowsOfBooks : public testing::Test {
 protected:
  WindowsOfBooks() { world_.look({}); }
  static ProcessView using_(Bytes allocated, Bytes peak) {
    return BooksWorld::process(1, "train", {.allocated = allocated, .peak = peak, .reserved = peak});
  }

  BooksWorld world_;
};

// Nobody has asked it yet, but it did not exist before.
TEST_F(WindowsOfBooks, BeginWithAllThatANewProcessReached) {
  world_.look({using_(1_MiB, 9_MiB)});

  EXPECT_THAT(world_.value(kWindow), Optional(9 * kMiB));
}

TEST_F(WindowsOfBooks, HaveWhatTheProcessTold) {
  world_.look({using_(1_MiB, 9_MiB)});
  world_.look({using_(1_MiB, 9_MiB)}, Seconds{100});
  EXPECT_THAT(world_.value(kWindow), Optional(1 * kMiB)) << "the peak is over a minute ago";

  world_.books.add_peaks(1, 0, {.allocated = 4 * kMiB, .reserved = 5 * kMiB, .held = 6 * kMiB}, world_.now);

  EXPECT_THAT(world_.value(kWindow), Optional(4 * kMiB));
  EXPECT_THAT(world_.value("tidemark_reserved_window_peak_bytes"), Optional(9 * kMiB)) << "it still has";
}

TEST_F(WindowsOfBooks, HaveAPeakThatTwoLooksShowToBeNew) {
  world_.look({using_(1_MiB, 9_MiB)});
  world_.look({using_(1_MiB, 9_MiB)}, Seconds{100});
  world_.look({BooksWorld::changed(using_(1_MiB, 12_MiB), [](DeviceBasis&) {})});

  EXPECT_THAT(world_.value(kWindow), Optional(12 * kMiB));
}

// Else a job that ends between two scrapes would never have had a peak.
TEST_F(WindowsOfBooks, OutliveTheProcessByAMinute) {
  world_.look({using_(1_MiB, 9_MiB)});
  world_.look({BooksWorld::ended(using_(1_MiB, 15_MiB))});
  EXPECT_THAT(world_.value(kWindow), Optional(15 * kMiB));

  world_.look({}, Seconds{59});
  EXPECT_THAT(world_.value(kWindow), Optional(15 * kMiB));
  world_.look({}, Seconds{2});
  EXPECT_EQ(world_.value(kWindow), std::nullopt);
}

TEST_F(WindowsOfBooks, AreAbsentWhereOneProcessCannotBeAsked) {
  world_.unasked = {2};
  world_.look({using_(1_MiB, 9_MiB), BooksWorld::process(2, "train"), BooksWorld::process(3, "serve")});

  EXPECT_EQ(world_.value(kWindow, {"train"}), std::nullopt);
  EXPECT_THAT(world_.value(kWindow, {"serve"}), Optional(0));
}

// What an old process reached before the exporter came is not of this minute.
TEST(Windows, BeginWithWhatIsInUseAtTheFirstLook) {
  BooksWorld world;
  world.look({BooksWorld::process(1, "train", {.allocated = 1_MiB, .peak = 9_MiB, .reserved = 9_MiB})});

  EXPECT_THAT(world.value(kWindow), Optional(1 * kMiB));
}

TEST(Windows, AreOfNobodyWhoIsNotKnown) {
  BooksWorld world;
  world.books.add_peaks(99, 0, {.allocated = 1}, world.now);
  world.look({});

  EXPECT_EQ(world.value(kWindow), std::nullopt);
}

}  // namespace
}  // namespace tidemark::viewer
