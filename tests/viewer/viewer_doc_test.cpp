// docs/viewer.md names every field of the documents that scripts read, with its type, every key and column of top, and
// no other.
#include "viewer/render/json.hpp"
#include "viewer/render/ranges_text.hpp"
#include "viewer/render/results_json.hpp"
#include "viewer/tui/columns.hpp"
#include "viewer/tui/key_table.hpp"

#include "tests/viewer/sample_view.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <set>
#include <string>

namespace tidemark::viewer {
namespace {

using nlohmann::json;

// "processes[].pid" and what the document says of its type.
using Fields = std::map<std::string, std::string>;

// The rows `| `field` | type |` under a heading `### `prefix``.
Fields documented() {
  std::ifstream doc(TIDEMARK_VIEWER_DOC);
  Fields fields;
  std::string prefix;
  bool is_inside = false;
  for (std::string line; std::getline(doc, line);) {
    if (line.starts_with("## ")) {
      is_inside = false;
    } else if (line.starts_with("### ")) {
      is_inside = true;
      prefix = line.starts_with("### `") ? line.substr(5, line.rfind('`') - 5) + "." : "";
    } else if (is_inside && line.starts_with("| `")) {
      const std::size_t end = line.find('`', 3);
      const std::size_t type = end + 4;
      fields[prefix + line.substr(3, end - 3)] = line.substr(type, line.find(" |", type) - type);
    }
  }
  return fields;
}

std::string type_of(const json& value) {
  return value.is_null()             ? "null"
         : value.is_boolean()        ? "boolean"
         : value.is_number_integer() ? "integer"
         : value.is_number()         ? "number"
         : value.is_string()         ? "text"
         : value.is_array()          ? "list"
                                     : "object";
}

void collect_fields(const json& value, const std::string& path, std::map<std::string, std::set<std::string>>& found) {
  if (value.is_array()) {
    for (const json& element : value) {
      collect_fields(element, path + "[]", found);
    }
    return;
  }
  if (!value.is_object() || path.ends_with(".stats")) {
    return;
  }
  for (const auto& [key, member] : value.items()) {
    const std::string name = path.empty() ? key : path + "." + key;
    found[name].insert(type_of(member));
    collect_fields(member, path.ends_with("kinds") ? path + ".*" : name, found);  // each kind has the same
  }
}

bool allows(const std::string& documented, const std::string& type) {
  const std::string all = " " + documented + " ";
  return all.find(" " + type + " ") != std::string::npos;
}

// Everything that can be there is.
View full_view() {
  View view = sample_view();
  segment::ProcessSnapshot& process = view.processes[0].snapshot;
  process.host_kinds.emplace();
  process.identity.rank = {.global = 3, .local = 1, .world = 8};
  process.globals.flags |= static_cast<std::uint64_t>(segment::ProcessFlag::Recording);
  view.processes[0].recording = history::Recording{.enabled = history::Enabled::All, .since_ns = kSampleNow};
  process.globals.mode_reason = "a sanitizer is loaded";
  process.globals.inner_pool = segment::InnerPool::Torch;
  DeviceView& device = view.processes[0].devices[0];
  device.snapshot.info.pci_bus_id = "0000:65:00.0";
  device.snapshot.basis[BasisWord::oom_time_ns] = kSampleNow;
  device.snapshot.basis[BasisWord::driver_total_bytes] = (8_GiB).count();
  device.snapshot.basis[BasisWord::driver_info_time_ns] = kSampleNow;
  device.figures.limit = (4_GiB).count();
  return view;
}

// The one of the documents that a field belongs to.
std::string document_of(const std::string& field) {
  for (const char* first : {"results", "settings", "coverage", "ranges"}) {
    if (field.starts_with(first)) {
      return first;
    }
  }
  return "ps";
}

class ViewerDoc : public testing::Test {
 protected:
  // The fields of `text` that belong to `document`, and those that the page has of it, are the same.
  void expect_documented(const std::string& text, const std::string& document) const {
    std::map<std::string, std::set<std::string>> found;
    collect_fields(json::parse(text), "", found);
    for (const auto& [name, types] : found) {
      if (name == document || (document_of(name) != document && document != "ps") ||
          name.starts_with("results[].after.")) {
        continue;
      }
      const auto known = documented_.find(name);
      ASSERT_NE(known, documented_.end()) << name << " is not in the document";
      for (const std::string& type : types) {
        EXPECT_TRUE(allows(known->second, type)) << name << " is " << type << ", documented as " << known->second;
      }
    }
    for (const auto& [name, type] : documented_) {
      EXPECT_TRUE(document_of(name) != document || found.contains(name)) << name << " is not there";
    }
  }

  const Fields documented_ = documented();
};

// The rows `| `left` | right |` under the heading `## `section``.
std::map<std::string, std::string> rows_under(const std::string& section) {
  std::ifstream doc(TIDEMARK_VIEWER_DOC);
  std::map<std::string, std::string> rows;
  bool is_inside = false;
  for (std::string line; std::getline(doc, line);) {
    if (line.starts_with("## ")) {
      is_inside = line == "## " + section;
    } else if (is_inside && line.starts_with("| `")) {
      const std::size_t end = line.find("` | ", 3);
      rows[line.substr(3, end - 3)] = line.substr(end + 4, line.rfind(" |") - end - 4);
    }
  }
  return rows;
}

TEST_F(ViewerDoc, HasEveryKeyOfTopAndEveryColumn) {
  std::map<std::string, std::string> keys;
  for (const KeyBinding& binding : kKeyBindings) {
    keys[std::string{binding.name}] = binding.help;
  }
  std::map<std::string, std::string> columns;
  for (const Column& column : all_columns()) {
    columns[std::string{column.title}] = column.meaning;
  }

  EXPECT_EQ(rows_under("`top`: keys"), keys);
  EXPECT_EQ(rows_under("`top`: columns"), columns);
}

TEST_F(ViewerDoc, HasEveryFieldOfPs) {
  ASSERT_GT(documented_.size(), 50U);

  expect_documented(ps_json(full_view()), "ps");
}

TEST_F(ViewerDoc, HasEveryFieldThatOnlyShowHas) {
  ProcessView process = full_view().processes[0];
  process.settings.clear();
  for (const char* name : {"mode",
                           "free",
                           "alloc_conf",
                           "limit",
                           "label",
                           "shm",
                           "dir",
                           "access",
                           "keep",
                           "control",
                           "thread",
                           "fill",
                           "skip",
                           "only_pid",
                           "record",
                           "record_stacks",
                           "record_max_entries",
                           "snapshot_on_oom",
                           "report",
                           "run_id"}) {
    process.settings.push_back({.name = name, .value = "value"});
  }
  const std::string document = show_json(process, kSampleNow);

  expect_documented(document, "settings");
  expect_documented(document, "coverage");
}

TEST_F(ViewerDoc, HasEveryFieldOfARange) {
  const std::vector<NamedRange> ranges{{.name = "a", .device = "cuda:0", .values = {.times = 1}},
                                       {.name = "b", .device = "", .values = {.times = 1, .unmeasured = 1}}};

  expect_documented(ranges_json(full_view().processes[0], ranges, kSampleNow), "ranges");
}

TEST_F(ViewerDoc, HasEveryFieldOfAResult) {
  const ActResult done{.id = "9f3c01aa", .pid = 4711, .device = "cuda:0", .status = "done", .detail = ""};
  const ActResult gone{.id = "9f3c01aa", .pid = 0, .device = "all", .status = "gone", .detail = "the process ended"};

  expect_documented(results_json({{.result = done,
                                   .before = Figures{},
                                   .after = Figures{},
                                   .own_peak = PeakFigures{.seconds = 1.5, .allocated = 3, .reserved = 4, .held = {}}},
                                  {.result = gone}}),
                    "results");
}

}  // namespace
}  // namespace tidemark::viewer
