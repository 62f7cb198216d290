// The two text formats, and which of them a client gets.
#include "viewer/export/metric_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tidemark::viewer {
namespace {

using testing::HasSubstr;
using testing::Not;

MetricPage small_page() {
  MetricPage page;
  const LabelSet gpu = page.labels({{"backend", "cuda"}, {"uuid", "GPU-1"}, {"command", "train"}, {"label", ""}});
  page.add(Metric::Allocated, gpu, std::uint64_t{1073741824});
  page.add(Metric::Ooms, gpu, std::uint64_t{0});
  page.add(Metric::DriverSeconds, gpu, 0.012345678);
  page.add(Metric::DeviceInfo, page.labels({{"uuid", "GPU-1"}}), std::uint64_t{1});
  page.add(Metric::Up, LabelSet::None, std::uint64_t{1});
  return page;
}

TEST(MetricPage, IsPrometheusText) {
  EXPECT_EQ(small_page().text(TextFormat::Prometheus),
            R"(# HELP tidemark_allocated_bytes Handed out to the programs, after rounding.
# TYPE tidemark_allocated_bytes gauge
tidemark_allocated_bytes{backend="cuda",uuid="GPU-1",command="train"} 1073741824
# HELP tidemark_driver_allocation_seconds_total Time that driver allocations and frees took.
# TYPE tidemark_driver_allocation_seconds_total counter
tidemark_driver_allocation_seconds_total{backend="cuda",uuid="GPU-1",command="train"} 0.012345678
# HELP tidemark_ooms_total Allocations that failed for good.
# TYPE tidemark_ooms_total counter
tidemark_ooms_total{backend="cuda",uuid="GPU-1",command="train"} 0
# HELP tidemark_device_info Which device it is.
# TYPE tidemark_device_info gauge
tidemark_device_info{uuid="GPU-1"} 1
# HELP tidemark_up 1: the segments' directory can be looked into.
# TYPE tidemark_up gauge
tidemark_up 1
)");
}

TEST(MetricPage, IsOpenMetrics) {
  EXPECT_EQ(small_page().text(TextFormat::OpenMetrics),
            R"(# HELP tidemark_allocated_bytes Handed out to the programs, after rounding.
# TYPE tidemark_allocated_bytes gauge
# UNIT tidemark_allocated_bytes bytes
tidemark_allocated_bytes{backend="cuda",uuid="GPU-1",command="train"} 1073741824
# HELP tidemark_driver_allocation_seconds Time that driver allocations and frees took.
# TYPE tidemark_driver_allocation_seconds counter
# UNIT tidemark_driver_allocation_seconds seconds
tidemark_driver_allocation_seconds_total{backend="cuda",uuid="GPU-1",command="train"} 0.012345678
# HELP tidemark_ooms Allocations that failed for good.
# TYPE tidemark_ooms counter
tidemark_ooms_total{backend="cuda",uuid="GPU-1",command="train"} 0
# HELP tidemark_device Which device it is.
# TYPE tidemark_device info
tidemark_device_info{uuid="GPU-1"} 1
# HELP tidemark_up 1: the segments' directory can be looked into.
# TYPE tidemark_up gauge
tidemark_up 1
# EOF
)");
}

TEST(MetricPage, WithoutASampleIsEmpty) {
  EXPECT_EQ(MetricPage{}.text(TextFormat::Prometheus), "");
  EXPECT_EQ(MetricPage{}.text(TextFormat::OpenMetrics), "# EOF\n");
}

TEST(MetricPage, EscapesWhatProgramsCallThemselves) {
  MetricPage page;
  page.add(Metric::Held, page.labels({{"command", "a\"b\\c\nd"}}), std::uint64_t{1});

  EXPECT_THAT(page.text(TextFormat::Prometheus), HasSubstr(R"(tidemark_held_bytes{command="a\"b\\c\nd"} 1)"));
}

TEST(MetricPage, AddsALabelToOthersAndToNone) {
  MetricPage page;
  page.add(Metric::Kind, page.with(page.labels({{"uuid", "x"}}), "kind", "async"), std::uint64_t{1});
  page.add(Metric::Exits, page.with(page.labels({{"label", ""}}), "how", "clean"), std::uint64_t{2});

  const std::string text = page.text(TextFormat::Prometheus);

  EXPECT_THAT(text, HasSubstr("tidemark_kind_bytes{uuid=\"x\",kind=\"async\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("tidemark_exits_total{how=\"clean\"} 2\n"));
}

TEST(MetricPage, WritesNumbersInFull) {
  MetricPage page;
  page.add(Metric::Held, LabelSet::None, ~std::uint64_t{0});
  page.add(Metric::LastOom, LabelSet::None, 1790000000.123);
  page.add(Metric::ScrapeDuration, LabelSet::None, 0.0);

  const std::string text = page.text(TextFormat::Prometheus);

  EXPECT_THAT(text, HasSubstr("tidemark_held_bytes 18446744073709551615\n"));
  EXPECT_THAT(text, HasSubstr("tidemark_last_oom_timestamp_seconds 1790000000.123\n"));
  EXPECT_THAT(text, HasSubstr("tidemark_scrape_duration_seconds 0\n"));
}

// What promtool would find fault with, and what OpenMetrics' parsers refuse.
TEST(MetricList, KeepsToPrometheusRules) {
  std::set<std::string_view> families;
  for (const MetricInfo& info : kMetricList) {
    const bool is_counter = info.type == MetricType::Counter;
    const std::string_view unit = info.unit == MetricUnit::Bytes     ? "_bytes"
                                  : info.unit == MetricUnit::Seconds ? "_seconds"
                                                                     : "";
    std::string_view family = info.name;
    family.remove_suffix(is_counter ? 6 : info.type == MetricType::Info ? 5 : 0);

    EXPECT_TRUE(info.name.starts_with("tidemark_")) << info.name;
    EXPECT_EQ(info.name.ends_with("_total"), is_counter) << info.name;
    EXPECT_EQ(info.name.ends_with("_info"), info.type == MetricType::Info) << info.name;
    EXPECT_TRUE(family.ends_with(unit)) << info.name;
    EXPECT_EQ(info.name.find(':'), std::string_view::npos) << info.name;
    EXPECT_TRUE(info.help.ends_with('.') && info.help.find('\n') == std::string_view::npos) << info.name;
    EXPECT_TRUE(families.insert(family).second) << "a gauge and a counter of one name: " << info.name;
  }
}

TEST(Accept, ChoosesOpenMetricsOnlyIfAskedTo) {
  using enum TextFormat;
  EXPECT_EQ(format_for(""), Prometheus);
  EXPECT_EQ(format_for("*/*"), Prometheus);
  EXPECT_EQ(format_for("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"), Prometheus);
  EXPECT_EQ(format_for("text/plain; version=0.0.4"), Prometheus);
  EXPECT_EQ(format_for("application/openmetrics-text"), OpenMetrics);
  EXPECT_EQ(format_for("Application/OpenMetrics-Text; charset=utf-8"), OpenMetrics);
  // Prometheus 2.42 and 3.
  EXPECT_EQ(format_for("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                       "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
            OpenMetrics);
  EXPECT_EQ(format_for("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
                       "text/plain;version=1.0.0;q=0.4,*/*;q=0.2"),
            OpenMetrics);
  EXPECT_EQ(format_for("text/plain;version=0.0.4;q=0.9,application/openmetrics-text;q=0.2"), Prometheus);
  EXPECT_EQ(format_for("application/openmetrics-text;q=0,text/plain"), Prometheus);
  EXPECT_EQ(format_for("application/openmetrics-text;q=0"), Prometheus);
  for (const char* odd : {",,,;;;===", "application/openmetrics-text;q=", "application/openmetrics-text;q=x", ";q=1",
                          "application/openmetrics-textual"}) {
    EXPECT_EQ(format_for(odd), Prometheus) << odd;
  }
}

TEST(Accept, IsAnsweredWithTheTypeThatServersKnow) {
  EXPECT_EQ(content_type(TextFormat::Prometheus), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(content_type(TextFormat::OpenMetrics), "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

}  // namespace
}  // namespace tidemark::viewer
