// The document behind the live page, its timeline, and the address it is served at.
#include "viewer/export/listen_address.hpp"
#include "viewer/export/live_json.hpp"
#include "viewer/export/live_page.hpp"

#include "tests/viewer/export/export_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tidemark::viewer {
namespace {

using nlohmann::json;

json live_of(const Books& books, const Timeline& timeline = {}) {
  KnownDevices devices;
  return json::parse(live_json(books, devices.take(books.view(), {}), timeline));
}

TEST(LiveDocument, HasTheNumbersOfTheProcesses) {
  Books books({});
  books.take(sample_view(), {}, {});

  const json live = live_of(books);

  ASSERT_EQ(live["rows"].size(), 5U) << "one of a process that has no device yet";
  EXPECT_EQ(live["rows"][0]["id"], "9f3c01aa");
  EXPECT_EQ(live["rows"][0]["allocated_bytes"], 1 << 30);
  EXPECT_EQ(live["rows"][0]["peak_bytes"], std::uint64_t{3} << 30);
  EXPECT_EQ(live["rows"][0]["limit_bytes"], nullptr);
  EXPECT_EQ(live["unreadable"], 1);
  EXPECT_EQ(live["host"], "node7");
  EXPECT_EQ(live["devices"].size(), 3U);
  EXPECT_EQ(live["devices"][0]["not_ours_bytes"], nullptr) << "nobody asked a driver";
}

TEST(LiveDocument, SaysWhichRankNeedsMostAndHowFarApartTheyAre) {
  Books books({});
  std::vector<ProcessView> ranks;
  for (const std::uint64_t mib : {12U, 44U, 4U}) {
    ranks.push_back(BooksWorld::process(mib, "train", {.allocated = 1_MiB, .peak = Bytes{mib << 20}}));
    ranks.back().snapshot.identity.rank.global = static_cast<std::int64_t>(ranks.size()) - 1;
  }
  View view;
  view.processes = std::move(ranks);
  books.take(std::move(view), {}, {});

  const json group = live_of(books)["groups"].at(0);

  EXPECT_EQ(group["ranks"], 3);
  EXPECT_EQ(group["highest_rank"], json({{"rank", 1}, {"peak_bytes", 44 << 20}}));
  EXPECT_EQ(group["lowest_rank"], json({{"rank", 2}, {"peak_bytes", 4 << 20}}));
  EXPECT_EQ(group["spread_bytes"], 40 << 20);
}

TEST(LiveDocument, SurvivesWhatProgramsCallThemselves) {
  Books books({});
  View view;
  view.processes.push_back(BooksWorld::process(1, "\xff\xfe</script>\"\\"));
  books.take(std::move(view), {}, {});

  EXPECT_THAT(live_of(books)["rows"][0]["command"].get<std::string>(), testing::HasSubstr("</script>\"\\"));
}

TEST(Timeline, HasTenMinutesOfEachDeviceThatIsThere) {
  Timeline timeline;
  KnownDevice first;
  first.device.uuid = "GPU-1";
  KnownDevice second;
  second.device.uuid = "GPU-2";
  timeline.add({first, second}, kSampleNow);
  for (std::size_t i = 0; i < Timeline::kMostPoints + 5; ++i) {
    first.device.held = i;
    timeline.add({first}, kSampleNow + i * kSampleSecond);
  }

  ASSERT_EQ(timeline.by_uuid().size(), 1U);
  EXPECT_EQ(timeline.by_uuid().at("GPU-1").size(), Timeline::kMostPoints);
  EXPECT_EQ(timeline.by_uuid().at("GPU-1").back().held, Timeline::kMostPoints + 4);
}

TEST(LivePage, IsWholeAndAsksNobodyElse) {
  const std::string page = live_page();

  EXPECT_THAT(page, testing::HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(page, testing::HasSubstr("fetch('live.json')"));
  EXPECT_THAT(page, testing::EndsWith("</html>\n"));
  for (const char* elsewhere : {"http://", "https://", "//cdn", "[[", "@import", "src="}) {
    EXPECT_THAT(page, testing::Not(testing::HasSubstr(elsewhere)));
  }
}

TEST(ListenAddress, HasTheFormsThatItNames) {
  const auto is = [](const char* text, const char* host, std::uint16_t port) {
    EXPECT_EQ(parse_listen_address(text), (ListenAddress{.host = host, .port = port})) << text;
  };
  is("127.0.0.1:9435", "127.0.0.1", 9435);
  is("0.0.0.0:0", "0.0.0.0", 0);
  is("[::1]:9435", "::1", 9435);
  is("localhost:80", "127.0.0.1", 80);
  is(":9435", "::", 9435);
  for (const char* bad : {"", "9435", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:9435", "[::1]",
                          "[127.0.0.1]:1", "node7:9435", "127.0.0.1:9435 ", "1.2.3:4", "[]:1"}) {
    EXPECT_EQ(parse_listen_address(bad), std::nullopt) << bad;
  }
}

TEST(KnownDevice, StaysAtZeroForAnHour) {
  KnownDevices devices;
  View view;
  view.processes.push_back(BooksWorld::process(1, "train", {.allocated = 1_MiB, .reserved = 2_MiB}));
  EXPECT_EQ(devices.take(view, KnownDevices::Clock::time_point{}).at(0).clients, 1U);

  const auto& later = devices.take(View{}, KnownDevices::Clock::time_point{Seconds{3600}});
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(later[0].clients, 0U);
  EXPECT_EQ(later[0].device.held, 0U);

  EXPECT_TRUE(devices.take(View{}, KnownDevices::Clock::time_point{Seconds{3601}}).empty());
}

// A program asked its driver once, and that may be long ago.
TEST(KnownDevice, TellsWhatIsFreeForAMinute) {
  const auto available = [](std::uint64_t age_s) {
    View view;
    view.time_ns = kSampleNow;
    view.processes.push_back(BooksWorld::changed(BooksWorld::process(1, "train"), [&](DeviceBasis& basis) {
      basis[BasisWord::driver_total_bytes] = basis[BasisWord::capacity_bytes];
      basis[BasisWord::driver_free_bytes] = 1000;
      basis[BasisWord::driver_info_time_ns] = kSampleNow - age_s * kSampleSecond;
    }));
    KnownDevices devices;
    return devices.take(view, {}).at(0).available;
  };
  EXPECT_EQ(available(0), 1000U);
  EXPECT_EQ(available(59), 1000U);
  EXPECT_EQ(available(61), std::nullopt);
}

}  // namespace
}  // namespace tidemark::viewer
