// docs/snapshots.md names every field of the documents that scripts read, and shows a report as it is.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "tests/viewer/history/sample_memory.hpp"
#include "tests/viewer/in_utf8_and_utc.hpp"
#include "viewer/history/compare_text.hpp"
#include "viewer/history/growth_text.hpp"
#include "viewer/history/report_json.hpp"
#include "viewer/history/report_text.hpp"

namespace tidemark::viewer {
namespace {

using nlohmann::json;
using SnapshotsDoc = InUtf8AndUtc;

std::string page() {
  std::ifstream file{TIDEMARK_SNAPSHOTS_DOC};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string section(const std::string& title) {
  const std::string text = page();
  const std::size_t begin = text.find("\n## " + title);
  return begin == std::string::npos ? "" : text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

void add_names(const json& value, std::set<std::string>& names) {
  for (const auto& [name, member] : value.items()) {
    if (value.is_object()) {
      names.insert(name);
    }
    if (member.is_structured()) {
      add_names(member, names);
    }
  }
}

// One stack grows in it.
std::vector<DeviceGrowth> sample_growth() {
  MemorySnapshot end = test::sample_snapshot();
  end.devices[0].segments[1].blocks.front().birth_ns = end.recording.since_ns + 1;
  MemorySnapshot middle = end;
  middle.devices[0].segments[1].blocks.front().state = history::BlockState::Inactive;
  return find_growth(end.recording.since_ns, middle, end);
}

TEST_F(SnapshotsDoc, HasEveryFieldThatScriptsRead) {
  const MemorySnapshot sample = test::sample_snapshot();
  const std::vector<CounterChange> counters{{.device = "cuda:0", .counter = "num_ooms", .before = 0, .after = 1}};
  std::set<std::string> names;
  for (const std::string& document :
       {report_json(report_of(sample, 2)), compare_json(compare(MemorySnapshot{}, sample)), compare_json(counters),
        growth_json(sample_growth(), 1)}) {
    add_names(json::parse(document), names);
  }
  const std::string text = section("For scripts");

  ASSERT_GT(names.size(), 40U);
  for (const std::string& name : names) {
    const bool is_there =
        text.find("`" + name + "`") != std::string::npos || text.find("`" + name + "[]`") != std::string::npos;
    EXPECT_TRUE(is_there) << name << " is not in the document";
  }
}

TEST_F(SnapshotsDoc, ShowsAReportAsItIs) {
  const std::string report = report_text(report_of(test::sample_snapshot(), kTextParts), Charset::Utf8, 10);
  std::string quoted = "\n    ";
  for (const char c : report.substr(0, report.size() - 1)) {
    quoted += c;
    quoted += c == '\n' ? "    " : "";
  }
  while (quoted.find("\n    \n") != std::string::npos) {
    quoted.erase(quoted.find("\n    \n") + 1, 4);
  }

  EXPECT_NE(section("Report").find(quoted + "\n"), std::string::npos) << quoted;
}

}  // namespace
}  // namespace tidemark::viewer
