// Memory of another process is counted as such, as long as it is open, by its true size; the exporter's is never handed
// out again.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

struct Way {
  std::string name;
  std::vector<std::string> command;
};
void PrintTo(const Way& way, std::ostream* to) { *to << way.name; }

constexpr std::uint64_t kPooled = 1 * kMiB;
constexpr std::uint64_t kUnit = 2 * kMiB;
constexpr std::uint64_t kSegment = 4 * kMiB;  // of the block of 3 MiB: what its handle opens

class Imports : public testing::TestWithParam<Way> {
 protected:
  // All lines up to `word`.
  static std::string read_until(Conversation& program, const std::string& word) {
    std::string said;
    for (std::string line = program.read_line(); line != word; line = program.read_line()) {
      if (line.empty()) {
        ADD_FAILURE() << "no '" << word << "' after:\n" << said << program.err();
        break;
      }
      said += line + "\n";
    }
    return said;
  }
  // What a run to the end says besides.
  static std::string without_words(const std::string& said) {
    std::string rest;
    std::istringstream lines{said};
    for (std::string line; std::getline(lines, line);) {
      if (line != "open" && line != "closed" && line != "freed") rest += line + "\n";
    }
    return rest;
  }
  [[nodiscard]] nlohmann::json exporter(const Conversation& program) const {
    return world_.device(program.pid(), "cuda:0");
  }
  // The exporter's child.
  [[nodiscard]] nlohmann::json importer(const Conversation& program) const {
    const nlohmann::json all = world_.ps();
    for (const nlohmann::json& process : all["processes"]) {
      if (process["pid"] != program.pid()) return process["devices"][0];
    }
    ADD_FAILURE() << "the importer isn't shown";
    return nullptr;
  }

  const ShimWorld world_;
};
INSTANTIATE_TEST_SUITE_P(By, Imports,
                         testing::Values(Way{"Runtime", {TIDEMARK_TEST_PROGRAMS_UNCHANGED "/cuda_imports"}},
                                         Way{"Driver", {TIDEMARK_TEST_PROGRAMS_UNCHANGED "/cuda_imports", "driver"}}),
                         [](const auto& one) { return one.param.name; });

TEST_P(Imports, AreCountedWhileTheyAreOpenAndPinWhatTheyCameFrom) {
  Conversation program{world_.under_shim(GetParam().command)};

  std::string said = read_until(program, "open");
  const nlohmann::json open = importer(program);
  EXPECT_EQ(open["kinds"]["imported"]["current_bytes"], kSegment + kPooled + kUnit + kUnit);
  EXPECT_EQ(open["kinds"]["imported"]["current_count"], 4) << "opened twice, it is there once";
  EXPECT_EQ(open["held"]["current_bytes"], 0) << "it is the exporter's";
  EXPECT_EQ(usage_of(open), Usage{});
  const nlohmann::json exporting = exporter(program);
  EXPECT_EQ(exporting["kinds"]["imported"]["current_bytes"], 0);
  EXPECT_EQ(exporting["cache"]["pinned_bytes"], 0) << "a live block isn't idle";
  EXPECT_EQ(exporting["held"]["current_bytes"], kSegment + kPooled + kUnit);

  program.write_line("");
  said += read_until(program, "closed");
  const nlohmann::json closed = importer(program);
  EXPECT_EQ(closed["kinds"]["imported"]["current_bytes"], 0);
  EXPECT_EQ(closed["kinds"]["imported"]["current_count"], 0);
  EXPECT_EQ(closed["kinds"]["imported"]["peak_bytes"], open["kinds"]["imported"]["peak_bytes"]);

  program.write_line("");
  said += read_until(program, "freed");
  EXPECT_EQ(usage_of(exporter(program)), (Usage{0, 0, kSegment, 0})) << "the importer may still use it: not kept";
  EXPECT_EQ(exporter(program)["held"]["current_bytes"], 0);

  program.write_line("");
  const Outcome ended = program.finish();
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(said + ended.out, without_words(run(ShimWorld::natively(GetParam().command)).out));
}

}  // namespace
}  // namespace tidemark::test
