// The page that a report is for a browser: the same numbers, and nothing that asks anybody for anything.
#include "viewer/history/report_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <regex.h>
#include <nlohmann/json.hpp>

#include <string>

#include "tests/viewer/history/sample_memory.hpp"
#include "tests/viewer/in_utf8_and_utc.hpp"
#include "viewer/history/report_json.hpp"

namespace tidemark::viewer {
namespace {

using nlohmann::json;
using test::kSampleMiB;
using test::sample_snapshot;
using testing::HasSubstr;
using testing::Not;

using ReportPage = InUtf8AndUtc;

std::string data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script>", at) - at);
}

TEST_F(ReportPage, HasTheSameNumbersAndEverySegment) {
  const MemorySnapshot snapshot = sample_snapshot();
  const std::string page = report_page(snapshot, "text & <more>");

  json data = json::parse(data_of(page));
  const json map = data["devices"][0]["map"];
  data["devices"][0].erase("map");
  EXPECT_EQ(data, json::parse(report_json(report_of(snapshot, kPageParts))));
  ASSERT_EQ(map.size(), 2U);
  EXPECT_EQ(map[1][0], std::to_string(test::kSampleBase + 2 * kSampleMiB));
  EXPECT_EQ(map[1][3][0], json::parse("[3145728, \"active_allocated\", 0]"));
  EXPECT_THAT(page, HasSubstr("text &amp; &lt;more&gt;"));
}

// What would make a browser ask anybody for anything.
TEST_F(ReportPage, FetchesNothing) {
  const std::string page = report_page(sample_snapshot(), "");

  for (const char* way : {"[a-z]+://", "\\bsrc *=", "\\bhref *=", "url *\\(", "@import", "\\bfetch\\b",
                          "XMLHttpRequest", "WebSocket", "EventSource", "sendBeacon", "\\bimport *\\("}) {
    regex_t pattern;
    ASSERT_EQ(regcomp(&pattern, way, REG_EXTENDED | REG_ICASE | REG_NOSUB), 0) << way;
    EXPECT_EQ(regexec(&pattern, page.c_str(), 0, nullptr, 0), REG_NOMATCH) << way;
    regfree(&pattern);
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST_F(ReportPage, LetsNoNameBecomeMarkup) {
  MemorySnapshot snapshot = sample_snapshot();
  snapshot.source.title = "</script><script>alert(1)</script>";
  snapshot.stacks[1][0].name = "<img src=x onerror=alert(1)>";

  const std::string page = report_page(snapshot, "");

  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_EQ(json::parse(data_of(page))["title"], "</script><script>alert(1)</script>");
}

}  // namespace
}  // namespace tidemark::viewer
