// Pages of text: paragraphs, tables, all about a row, what is in a device.
#include "viewer/tui/page.hpp"

#include "viewer/render/counter_rows.hpp"
#include "viewer/tui/detail_page.hpp"
#include "viewer/tui/device_page.hpp"
#include "viewer/tui/layout.hpp"
#include "viewer/tui/page_table.hpp"

#include "tests/viewer/in_utf8_and_utc.hpp"
#include "tests/viewer/sample_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::viewer {
namespace {

using testing::HasSubstr;
using testing::Not;

class Pages : public InUtf8AndUtc {
 protected:
  // All of the page, without its title.
  static std::string text_of(const Page& page, int width) {
    Canvas canvas({width, static_cast<int>(page.lines.size()) + 2}, Charset::Utf8);
    draw_page(canvas, page, 0);
    const std::string text = canvas.text();
    return text.substr(text.find('\n') + 1);
  }
  static std::string text_of(const std::vector<PageLine>& lines, int width) {
    return text_of(Page{.title = "", .lines = lines}, width);
  }
  // Lines joined again: what a wrapped text says.
  static std::string joined(const std::string& text) {
    std::string all;
    for (const char c : text) {
      if (c != '\n' && c != ' ') {
        all += c;
      } else if (!all.empty() && all.back() != ' ') {
        all += ' ';
      }
    }
    return all;
  }

  View view_ = sample_view();
};

TEST_F(Pages, BreakLinesBetweenWordsAndNeverBeforeAUnit) {
  std::vector<PageLine> lines;
  add_paragraph(lines, "  capacity 8.000 GiB, limit none", 17, 2, 2);
  EXPECT_EQ(text_of(lines, 17), "  capacity\n    8.000 GiB,\n    limit none\n\n");
}

TEST_F(Pages, BreakAWordThatNoLineIsLongEnoughFor) {
  std::vector<PageLine> lines;
  add_paragraph(lines, "in /a/very/long/path/to/something", 12);
  EXPECT_EQ(text_of(lines, 12), "in\n/a/very/long\n/path/to/som\nething\n\n");
}

TEST_F(Pages, SayWhichPartOfThemIsSeen) {
  Page page{.title = "numbers", .lines = {}};
  for (int i = 1; i <= 10; ++i) {
    page.lines.push_back({{.column = 0, .text = std::to_string(i)}});
  }
  Canvas canvas({20, 5}, Charset::Utf8);

  EXPECT_EQ(furthest_scroll(page, page_rows(canvas.size())), 7U);
  draw_page(canvas, page, 100);
  EXPECT_EQ(canvas.text(), "numbers   8-10 of 10\n8\n9\n10\n\n");
}

TEST_F(Pages, HaveTablesThatLeaveTheLastNumbersOutWhereTheyAreNarrow) {
  const PageTable table{.titles = {"NAME", "NOW", "PEAK", "MEANING"},
                        .rows = {{.name = "first", .cells = {"1", "22"}, .meaning = "what it is"},
                                 {.name = "second one", .cells = {"12,345", ""}}}};
  const auto at = [&](int width) {
    std::vector<PageLine> lines;
    add_table(lines, table, width, Charset::Utf8);
    return text_of(lines, width);
  };

  EXPECT_EQ(at(80),
            "  NAME           NOW  PEAK  MEANING\n"
            "  first            1    22  what it is\n"
            "  second one  12,345\n\n");
  EXPECT_EQ(at(30),
            "  NAME           NOW  PEAK\n"
            "  first            1    22\n"
            "      what it is\n"
            "  second one  12,345\n\n");
  EXPECT_EQ(at(20),
            "  NAME           NOW\n"
            "  first            1\n"
            "      what it is\n"
            "  second one  12,345\n\n");
  EXPECT_EQ(at(16),
            "  NAME       NOW\n"
            "  first        1\n"
            "      what it is\n"
            "  secon…  12,345\n\n");
}

TEST_F(Pages, OfARowHaveEveryCounterWithItsMeaningAtAnyWidth) {
  const std::vector<CounterRow> counters = counter_rows(view_.processes[0].devices[0].snapshot.basis);
  ASSERT_GT(counters.size(), 40U);
  for (const int width : {37, 80, 140, 300}) {
    const std::string text = joined(text_of(detail_page(view_, {"9f3c01aa", "cuda:0"}, width, Charset::Utf8), width));
    for (const CounterRow& row : counters) {
      EXPECT_THAT(text, HasSubstr(row.meaning)) << width;
      if (width >= 80) {
        EXPECT_THAT(text, HasSubstr(row.name + " ")) << width;
      }
    }
  }
}

TEST_F(Pages, OfARowTellWhatShowTellsOfItAndItsSettings) {
  view_.processes[0].snapshot.globals.mode = segment::ProcessMode::Count;
  view_.processes[0].snapshot.globals.mode_reason = "a sanitizer is loaded";
  (*view_.processes[0].devices[0].snapshot.kinds)[DeviceKind::Async] = {
      .current_bytes = (3_MiB).count(), .peak_bytes = (5_MiB).count(), .current_count = 1, .total_count = 12};

  const std::string text = text_of(detail_page(view_, {"9f3c01aa", "cuda:0"}, 130, Charset::Utf8), 130);

  EXPECT_THAT(text, HasSubstr("mode count because a sanitizer is loaded"));
  EXPECT_THAT(text, HasSubstr("called through us: linked cuGetExportTable"));
  EXPECT_THAT(text, HasSubstr("  settings: TIDEMARK_FREE=strict; not set: TIDEMARK_LIMIT\n"));
  EXPECT_THAT(text, HasSubstr("  async        3.000 MiB  5.000 MiB       1      12  from the stream's pool"));
  EXPECT_THAT(text, HasSubstr("  = reserved                    4.000 GiB  4,294,967,296\n"));
  EXPECT_THAT(text, HasSubstr("unknown: the program never asked its driver"));
  EXPECT_THAT(text, Not(HasSubstr("cuda:1")));
}

// The page said "unknown" where `show` had NVML's word.
TEST_F(Pages, OfARowEndInWhatTheNodeSaysOfItsDevice) {
  view_.processes.push_back(
      sample_process({.id = "22223333", .pid = 5000, .command = "other"},
                     {sample_device(segment::Backend::Cuda, 0,
                                    {.allocated = 1_GiB, .peak = 1_GiB, .reserved = 2_GiB, .hits = 1, .misses = 1})}));
  const DeviceView& device = view_.processes[0].devices[0];
  view_.node.devices = {{.uuid = device.uuid,
                         .uuid_bytes = device.snapshot.info.uuid,
                         .from_nvml = true,
                         .used = (7_GiB).count(),
                         .time_ns = kSampleNow}};
  const auto end_of_sum = [this](const RowKey& key) {
    const std::string text = text_of(detail_page(view_, key, 80, Charset::Utf8), 80);
    const std::size_t begin = text.find("  = held");
    return text.substr(begin, text.find("\n\n", begin) - begin);
  };

  EXPECT_EQ(end_of_sum({"9f3c01aa", "cuda:0"}),
            "  = held                               4.000 GiB  4,294,967,296\n"
            "  + held by other processes seen here  2.000 GiB  2,147,483,648\n"
            "  + not ours                           1.000 GiB  1,073,741,824\n"
            "  = used, as NVML says                 7.000 GiB  7,516,192,768");
  EXPECT_THAT(end_of_sum({"deadbeef", "cuda:0"}), Not(HasSubstr("NVML"))) << "a dead process's are not of now";
}

TEST_F(Pages, OfARowWithoutADeviceAndOfOneThatWentSaySo) {
  EXPECT_THAT(text_of(detail_page(view_, {"11112222", ""}, 80, Charset::Utf8), 80), HasSubstr("no device yet"));
  EXPECT_EQ(text_of(detail_page(view_, {"00000000", "cuda:0"}, 80, Charset::Utf8), 80), "that process is gone\n\n");
}

TEST_F(Pages, OfDevicesStackTheLivingProcesses) {
  view_.processes.push_back(
      sample_process({.id = "22223333", .pid = 5000, .command = "other"},
                     {sample_device(segment::Backend::Cuda, 0,
                                    {.allocated = 1_GiB, .peak = 1_GiB, .reserved = 2_GiB, .hits = 1, .misses = 1})}));
  DeviceBasis& basis = view_.processes[0].devices[0].snapshot.basis;
  basis[BasisWord::driver_total_bytes] = (8_GiB).count();
  basis[BasisWord::driver_free_bytes] = (1_GiB).count();
  basis[BasisWord::driver_info_time_ns] = kSampleNow - 3 * kSampleSecond;

  EXPECT_EQ(text_of(device_page(view_, 100, Charset::Utf8), 100),
            R"(cuda:0 Simulated CUDA device GPU-9f3c01aa-0100-0000-0000-000000000000: 6.000 GiB held, 4.000 GiB of
  it cached, of 8.000 GiB
[AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAABBBBBBBBBBBBBBBBBBBBBBBBB////////////............]
                                         HELD   SHARE  ALLOCATED     CACHED       PEAK
  A    4711 eval: python3 train.py  4.000 GiB  50.0 %  1.000 GiB  3.000 GiB  3.000 GiB
  B    5000 other                   2.000 GiB  25.0 %  1.000 GiB  1.000 GiB  1.000 GiB
  / not ours                        1.000 GiB  12.5 %
      as the driver said 3 s ago
  . free                            1.000 GiB  12.5 %

cuda:1 Simulated CUDA device GPU-9f3c01aa-0100-0000-0000-000000000001: 302.0 MiB held, 2.000 MiB of
  it cached, of 8.000 GiB
[AAAA??????????????????????????????????????????????????????????????????????????????????????????????]
                                         HELD   SHARE  ALLOCATED     CACHED       PEAK
  A    4711 eval: python3 train.py  302.0 MiB   3.7 %  300.0 MiB  2.000 MiB  300.0 MiB
  / not ours                           N/A
      no program has asked its driver yet
  ? free or not ours                7.705 GiB  96.3 %

mtia:0 Simulated MTIA device MTIA-9f3c01aa-0200-0000-0000-000000000000: 7.078 GiB held, 6.079 GiB of
  it cached, of 8.000 GiB
[AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA???????????]
                             HELD   SHARE  ALLOCATED     CACHED       PEAK
  A    4712 mtia_train  7.078 GiB  88.5 %   1023 MiB  6.079 GiB  7.000 GiB
  / not ours               N/A
      no program has asked its driver yet
  ? free or not ours    944.1 MiB  11.5 %


)");
}

TEST_F(Pages, OfDevicesNeverDrawMoreThanThereIs) {
  for (int i = 0; i < 30; ++i) {  // more than letters, and more than the device has
    view_.processes.push_back(sample_process(
        {.id = std::to_string(30000000 + i), .pid = 6000 + i, .command = "many"},
        {sample_device(segment::Backend::Cuda, 0, {.allocated = 1_GiB, .peak = 1_GiB, .reserved = 1_GiB})}));
  }
  const std::string text = text_of(device_page(view_, 60, Charset::Utf8), 60);

  EXPECT_THAT(text, HasSubstr("\n[" + std::string(29, 'A')));
  EXPECT_THAT(text, HasSubstr("  +    6029 many"));
  EXPECT_THAT(text, testing::ContainsRegex("\n\\[[A-Z]{58}\\]\n"));
}

TEST_F(Pages, OfDevicesTellHowToBegin) {
  EXPECT_THAT(text_of(device_page({}, 80, Charset::Utf8), 80), HasSubstr("start one: tidemark run -- CMD"));
}

}  // namespace
}  // namespace tidemark::viewer
