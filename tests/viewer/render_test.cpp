// The texts and documents of ps and the commands that act.
#include "viewer/render/emptied_text.hpp"
#include "viewer/render/json.hpp"
#include "viewer/render/ps_text.hpp"
#include "viewer/render/results_json.hpp"

#include "shared/segment/counter_list.hpp"
#include "shared/segment/derive.hpp"
#include "tests/viewer/in_utf8_and_utc.hpp"
#include "tests/viewer/sample_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace tidemark::viewer {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

using PsText = InUtf8AndUtc;
using PsJson = InUtf8AndUtc;
using PsCsv = InUtf8AndUtc;
using ResultsJson = InUtf8AndUtc;
using EmptiedText = InUtf8AndUtc;

TEST_F(PsText, HasALineForEachProcessAndDevice) {
  EXPECT_EQ(
      ps_text(sample_view(), Charset::Utf8),
      R"(ID            PID  DEVICE  STATE       ALLOCATED       PEAK   RESERVED     CACHED       HELD  HIT%  LABEL/COMMAND
9f3c01aa     4711  cuda:0  live        1.000 GiB  3.000 GiB  4.000 GiB  3.000 GiB  4.000 GiB  99.9  eval: python3 train.py
9f3c01aa     4711  cuda:1  live        300.0 MiB  300.0 MiB  302.0 MiB  2.000 MiB  302.0 MiB   0.0  eval: python3 train.py
00c0ffee     4712  mtia:0  live         1023 MiB  7.000 GiB  7.078 GiB  6.079 GiB  7.078 GiB  50.0  mtia_train
11112222  4194303  -       stopped             -          -          -          -          -     -  waiting
deadbeef       99  cuda:0  killed        512 B    1.000 KiB  2.000 MiB  2.000 MiB  2.000 MiB   0.0  crashed
aaaabbbb      500  -       unreadable          -          -          -          -          -     -  of user 1001
)");
}

TEST_F(PsText, IsOnlyATitleWhenThereIsNothing) {
  EXPECT_EQ(ps_text({}, Charset::Utf8),
            "ID  PID  DEVICE  STATE  ALLOCATED  PEAK  RESERVED  CACHED  HELD  HIT%  LABEL/COMMAND\n");
}

TEST_F(PsText, FitsTheTerminalByCuttingOnlyTheLastColumn) {
  const std::string text = ps_text(sample_view(), Charset::Utf8, 112);

  EXPECT_THAT(text, HasSubstr("  99.9  eval: pytho…\n"));
}

TEST_F(PsText, LeavesColumnsOutOfANarrowTerminal) {
  for (std::size_t width = 79; width < 120; ++width) {
    const std::string text = ps_text(sample_view(), Charset::Utf8, width);

    EXPECT_THAT(text, HasSubstr("eval: ")) << width;
    EXPECT_THAT(text, HasSubstr("HELD")) << width;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(columns_of(clean_points(line, Charset::Utf8)), width) << text;
    }
  }
  EXPECT_EQ(ps_text(sample_view(), Charset::Utf8, 80).substr(0, 79),
            "ID            PID  DEVICE  STATE       ALLOCATED       PEAK       HELD  LABEL/C");
}

TEST_F(PsText, NeverCallsAMissAHundredPercent) {
  EXPECT_EQ(percent_text(100.0), "100.0");
  EXPECT_EQ(percent_text(99.9999), "99.9");
  EXPECT_EQ(percent_text(std::nullopt), "-");
}

TEST_F(PsCsv, QuotesWhatNeedsIt) {
  View view = sample_view();
  view.processes[0].snapshot.identity.command = "a,b \"c\"\nd";

  const std::string csv = ps_csv(view);

  EXPECT_THAT(csv, StartsWith("id,pid,device,state,requested_bytes,"));
  EXPECT_THAT(csv,
              HasSubstr("9f3c01aa,4711,cuda:0,live,1073741724,1073741824,3221225472,4294967296,4294967296,3221225472,"
                        "4294967296,4294967296,8589934592,,99.900,0,eval,\"a,b \"\"c\"\"\nd\"\n"));
  EXPECT_THAT(csv, HasSubstr("aaaabbbb,500,,unreadable,,"));
}

TEST_F(PsCsv, HasAsManyFieldsInEveryRecord) {
  const std::string csv = ps_csv(sample_view());
  std::size_t begin = 0;
  for (std::size_t end = csv.find('\n'); end != std::string::npos; begin = end + 1, end = csv.find('\n', begin)) {
    const std::string line = csv.substr(begin, end - begin);
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 17) << line;
  }
}

TEST_F(PsJson, HasTheDocumentedKeysEverywhere) {
  const json document = json::parse(ps_json(sample_view()));

  EXPECT_EQ(document.at("schema"), 1);
  EXPECT_EQ(document.at("host"), "node7");
  EXPECT_EQ(document.at("time"), 1790000000.0);
  ASSERT_EQ(document.at("processes").size(), 5U);
  for (const json& process : document.at("processes")) {
    for (const char* key :
         {"id", "pid", "ns_pid", "label", "container_id", "rank", "state", "command", "uid", "started", "inner_pool",
          "mode", "mode_reason", "layer", "recording", "host_kinds", "devices"}) {
      EXPECT_TRUE(process.contains(key)) << key;
    }
    for (const json& device : process.at("devices")) {
      for (const char* key : {"device", "backend", "index", "uuid", "name", "capacity_bytes", "limit_bytes",
                              "peak_since", "stats", "held", "lifetime_peak", "cache", "kinds", "last_oom"}) {
        EXPECT_TRUE(device.contains(key)) << key;
      }
      EXPECT_EQ(device.contains("dram"), device.at("backend") == "mtia");
    }
  }
  for (const json& device : document.at("devices")) {
    for (const char* key : {"uuid", "name", "simulated", "node_index", "pci_bus_id", "capacity_bytes", "used_bytes",
                            "used_source", "used_age_s", "held_bytes", "cached_bytes", "not_ours_bytes"}) {
      EXPECT_TRUE(device.contains(key)) << key;
    }
  }
}

TEST_F(PsJson, SaysBytesAsIntegersAndUnknownAsNull) {
  const json document = json::parse(ps_json(sample_view()));

  const json& process = document.at("processes").at(0);
  EXPECT_EQ(process.at("pid"), 4711);
  EXPECT_EQ(process.at("label"), "eval");
  EXPECT_EQ(process.at("state"), "live");
  EXPECT_EQ(process.at("mode_reason"), nullptr);
  EXPECT_EQ(process.at("started"), 1789999808.0);
  const json& device = process.at("devices").at(0);
  EXPECT_EQ(device.at("uuid"), "GPU-9f3c01aa-0100-0000-0000-000000000000");
  EXPECT_EQ(device.at("limit_bytes"), nullptr);
  EXPECT_TRUE(device.at("capacity_bytes").is_number_integer());
  EXPECT_EQ(device.at("held"), (json{{"current_bytes", 4294967296}, {"peak_bytes", 4294967296}}));
  EXPECT_EQ(device.at("cache").at("hits"), 9990);
  EXPECT_EQ(device.at("last_oom"), nullptr);
  EXPECT_EQ(device.at("peak_since"), 1789999940.0);
  EXPECT_EQ(document.at("processes").at(1).at("devices").at(0).at("dram"), (json{{"allocated_bytes", 1072693248},
                                                                                 {"peak_bytes", 7516192768},
                                                                                 {"reserved_bytes", 7600000000},
                                                                                 {"peak_reserved_bytes", 7600000000}}));
  EXPECT_EQ(document.at("processes").at(4).at("state"), "unreadable");
  EXPECT_EQ(document.at("processes").at(4).at("command"), nullptr);
}

TEST_F(PsJson, HasTheStatisticsOfPyTorchUnderTheirNames) {
  const View view = sample_view();
  const json document = json::parse(ps_json(view));
  const json& stats = document.at("processes").at(0).at("devices").at(0).at("stats");

  EXPECT_EQ(stats.size(), 122U);
  EXPECT_EQ(stats.at("allocated_bytes.all.current"), 1073741824);
  EXPECT_EQ(stats.at("allocated_bytes.all.peak"), 3221225472);
  EXPECT_EQ(stats.at("allocation.large_pool.allocated"), 10000);
  EXPECT_EQ(stats.at("max_split_size"), -1);
  const DeviceBasis& basis = view.processes[0].devices[0].snapshot.basis;
  for (const segment::CounterInfo& info : segment::counter_list()) {
    EXPECT_EQ(stats.at(std::string{info.key}), segment::stat_value(basis, *segment::find_stat(info.key))) << info.key;
  }
}

TEST_F(PsJson, AddsUpWhatLivingProcessesHoldOnADevice) {
  View view = sample_view();
  DeviceBasis& basis = view.processes[0].devices[0].snapshot.basis;
  basis[BasisWord::driver_total_bytes] = (8_GiB).count();
  basis[BasisWord::driver_free_bytes] = (3_GiB).count();
  basis[BasisWord::driver_info_time_ns] = kSampleNow - 2 * kSampleSecond;

  const json document = json::parse(ps_json(view));

  // The killed process has the same device; the driver took its memory back.
  const json& device = document.at("devices").at(0);
  EXPECT_EQ(device.at("held_bytes"), 4294967296);
  EXPECT_EQ(device.at("used_bytes"), 5368709120);
  EXPECT_EQ(device.at("used_source"), "program");
  EXPECT_EQ(device.at("used_age_s"), 2.0);
  EXPECT_EQ(device.at("not_ours_bytes"), 1073741824);
  EXPECT_EQ(document.at("devices").at(1).at("used_bytes"), nullptr);
}

TEST_F(PsJson, SurvivesAnyBytesInNames) {
  View view = sample_view();
  std::string all;
  for (int c = 1; c < 256; ++c) {
    all += static_cast<char>(c);
  }
  view.processes[0].snapshot.identity.command = all;
  view.processes[0].snapshot.identity.label = "\xff\xfe";
  view.host = "\x80";

  const json document = json::parse(ps_json(view));

  EXPECT_THAT(document.at("processes").at(0).at("command").get<std::string>(), HasSubstr("ABC"));
  EXPECT_EQ(document.at("processes").at(0).at("label"), "\uFFFD\uFFFD");
}

TEST_F(PsJson, ShowIsOneProcessWithItsTime) {
  const json document = json::parse(show_json(sample_view().processes[1], kSampleNow));

  EXPECT_EQ(document.at("schema"), 1);
  EXPECT_EQ(document.at("id"), "00c0ffee");
  EXPECT_TRUE(document.contains("settings"));
  EXPECT_TRUE(document.contains("coverage"));
  EXPECT_EQ(document.at("devices").size(), 1U);
}

TEST_F(ResultsJson, IsOneDocument) {
  const Figures before{.allocated = 10, .allocated_peak = 30, .reserved = 40};
  const Figures after{.allocated = 10, .allocated_peak = 10, .reserved = 40};

  const json document = json::parse(results_json(
      {{.result = {.id = "9f3c01aa", .pid = 4711, .device = "cuda:0", .status = "done", .detail = ""},
        .before = before,
        .after = after},
       {.result = {.id = "9f3c01aa", .pid = 4711, .device = "all", .status = "deferred", .detail = "waits\xff"}}}));

  EXPECT_EQ(document.at("schema"), 1);
  const json& first = document.at("results").at(0);
  EXPECT_EQ(first.at("id"), "9f3c01aa");
  EXPECT_EQ(first.at("pid"), 4711);
  EXPECT_EQ(first.at("device"), "cuda:0");
  EXPECT_EQ(first.at("status"), "done");
  EXPECT_EQ(first.at("detail"), nullptr);
  EXPECT_EQ(first.at("before").at("peak_allocated_bytes"), 30);
  EXPECT_EQ(first.at("after").at("peak_allocated_bytes"), 10);
  EXPECT_EQ(first.at("after").at("reserved_bytes"), 40);
  EXPECT_EQ(document.at("results").at(1).at("detail"), "waits\uFFFD");
  EXPECT_EQ(document.at("results").at(1).at("before"), nullptr);
  EXPECT_EQ(document.at("results").at(1).at("after"), nullptr);
}

TEST_F(EmptiedText, SaysWhatStaysAndWhy) {
  const Figures before{.allocated = (60_MiB).count(), .cached = (340_MiB).count(), .reserved = (400_MiB).count()};
  const Figures after{.allocated = (60_MiB).count(),
                      .pending = (10_MiB).count(),
                      .cached = (30_MiB).count(),
                      .split = (20_MiB).count(),
                      .pinned = (4_MiB).count(),
                      .reserved = (100_MiB).count()};

  EXPECT_EQ(emptied_text(before, after),
            "gave back 300.0 MiB of 400.0 MiB; 100.0 MiB stay: 60.00 MiB in use, 10.00 MiB freed with device work "
            "pending, 4.000 MiB pinned, as another process has it, 20.00 MiB free in segments that are partly in use, "
            "6.000 MiB still cached");
  EXPECT_EQ(emptied_text(after, after).substr(0, 33), "gave nothing back; 100.0 MiB stay");
  EXPECT_EQ(emptied_text(before, {}), "gave back 400.0 MiB of 400.0 MiB; nothing stays");
}

}  // namespace
}  // namespace tidemark::viewer
