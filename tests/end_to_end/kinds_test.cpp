// Memory that is not cached is counted by kind, to the byte, as long as it is there.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

class Kinds : public testing::Test {
 protected:
  // The lines before `word`: "name: code" or "name=value".
  static std::map<std::string, std::uint64_t> read_until(Conversation& program, const std::string& word) {
    std::map<std::string, std::uint64_t> said;
    for (std::string line = program.read_line(); line != word; line = program.read_line()) {
      const std::size_t end = line.find_first_of(":=");
      if (end == std::string::npos) {
        ADD_FAILURE() << "not understood: '" << line << "'";
        break;
      }
      said[line.substr(0, end)] = std::stoull(line.substr(end + (line[end] == ':' ? 2 : 1)));
    }
    return said;
  }
  [[nodiscard]] Launch kinds(std::vector<std::string> names) const {
    names.insert(names.begin(), TIDEMARK_TEST_PROGRAMS_UNCHANGED "/cuda_kinds");
    return world_.under_shim(std::move(names));
  }
  static std::uint64_t now(const nlohmann::json& kinds, const char* name) {
    return kinds[name]["current_bytes"].get<std::uint64_t>();
  }

  const ShimWorld world_;
};

TEST_F(Kinds, AreExactWhileMemoryIsHeldAndAfter) {
  Conversation program{kinds({})};
  auto said = read_until(program, "held");
  const std::uint64_t pitched = said.extract("row").mapped() * 100;
  for (const auto& [name, code] : said) EXPECT_EQ(code, 0u) << name;

  const nlohmann::json held = world_.process(program.pid());
  const nlohmann::json& device = held["devices"][0];
  EXPECT_EQ(stat_of(device, "allocated_bytes.all.current"), pitched);
  EXPECT_EQ(stat_of(device, "requested_bytes.all.current"), pitched);
  EXPECT_EQ(device["cache"]["passed_through"], 1);
  EXPECT_EQ(now(device["kinds"], "managed"), 3 * kMiB);
  EXPECT_EQ(now(device["kinds"], "async"), 300 * kKiB);
  EXPECT_EQ(now(device["kinds"], "pool"), 500 * kKiB);
  EXPECT_EQ(now(device["kinds"], "vmm"), 6 * kMiB);
  constexpr std::uint64_t kArrays = 256 * 64 * 16 + 64 * 64 + 32 * 32 + 16 * 16 + 32 * 16 * 8 * 4;
  EXPECT_EQ(now(device["kinds"], "array"), kArrays);
  EXPECT_EQ(device["kinds"]["array"]["current_count"], 3);
  EXPECT_EQ(now(device["kinds"], "imported"), 0u);  // what it took in is its own
  EXPECT_EQ(device["held"]["current_bytes"], pitched + 800 * kKiB + 6 * kMiB + kArrays);
  EXPECT_EQ(now(held["host_kinds"], "pinned"), 72 * kKiB);
  EXPECT_EQ(now(held["host_kinds"], "registered"), 16 * kKiB);
  EXPECT_EQ(now(held["host_kinds"], "vmm"), 2 * kMiB);     // none of the device's
  EXPECT_EQ(now(held["host_kinds"], "pool"), 700 * kKiB);  // neither

  program.write_line("");
  said = read_until(program, "freed");
  for (const auto& [name, code] : said) EXPECT_EQ(code, 0u) << name;
  const nlohmann::json freed = world_.process(program.pid());
  for (const char* kind : {"managed", "async", "pool", "vmm", "array", "imported"}) {
    const nlohmann::json& count = freed["devices"][0]["kinds"][kind];
    EXPECT_EQ(count["current_bytes"], 0) << kind;
    EXPECT_EQ(count["current_count"], 0) << kind;
    EXPECT_EQ(count["peak_bytes"], device["kinds"][kind]["peak_bytes"]) << kind;
  }
  EXPECT_EQ(now(freed["host_kinds"], "pinned"), 0u);
  EXPECT_EQ(now(freed["host_kinds"], "registered"), 0u);
  EXPECT_EQ(now(freed["host_kinds"], "vmm"), 0u);
  EXPECT_EQ(now(freed["host_kinds"], "pool"), 0u);
  EXPECT_EQ(freed["devices"][0]["held"]["current_bytes"], 0);

  ASSERT_EQ(world_.tidemark({"reset-peak", std::to_string(program.pid())}).exit_code, 0);
  const nlohmann::json reset = world_.process(program.pid());
  EXPECT_EQ(reset["devices"][0]["kinds"]["vmm"]["peak_bytes"], 0);
  EXPECT_EQ(reset["devices"][0]["held"]["peak_bytes"], 0);
  EXPECT_EQ(reset["host_kinds"]["pinned"]["peak_bytes"], 0);
  EXPECT_EQ(program.finish().exit_code, 0);
}

// What can't be cached is held to the limit all the same where it is a part of what is reserved.
TEST_F(Kinds, InRowsAreUnderTheLimit) {
  Launch launch = kinds({"pitch", "managed"});
  launch.environment["TIDEMARK_LIMIT"] = "64KiB";
  Conversation program{launch};
  const auto said = read_until(program, "held");
  EXPECT_EQ(said.at("pitch"), 2u);
  EXPECT_EQ(said.at("managed"), 0u);

  const nlohmann::json device = world_.device(program.pid(), "cuda:0");
  EXPECT_EQ(stat_of(device, "reserved_bytes.all.current"), 0u);
  EXPECT_EQ(stat_of(device, "num_ooms"), 1u);
  EXPECT_EQ(program.finish().exit_code, 0);
}

// No device of its own: the process is shown nevertheless.
TEST_F(Kinds, OfTheHostAloneMakeAProcessVisible) {
  Conversation program{kinds({"pinned"})};
  read_until(program, "held");

  const nlohmann::json process = world_.process(program.pid());
  ASSERT_FALSE(process.is_null());
  EXPECT_EQ(process["devices"].size(), 0u);
  EXPECT_EQ(now(process["host_kinds"], "pinned"), 64 * kKiB);
  EXPECT_EQ(program.finish().exit_code, 0);
}

TEST_F(Kinds, ThatTheDriverRefusesAreNotCounted) {
  Launch launch = kinds({"pinned", "async", "managed"});
  launch.environment["CUDA_SIM_FAIL"] = "cuMemAllocAsync:1";
  Conversation program{launch};
  EXPECT_NE(read_until(program, "held")["async"], 0u);

  const nlohmann::json device = world_.device(program.pid(), "cuda:0");
  EXPECT_EQ(now(device["kinds"], "async"), 0u);
  EXPECT_EQ(device["kinds"]["async"]["total_count"], 0);
  EXPECT_EQ(now(device["kinds"], "managed"), 3 * kMiB);
  EXPECT_EQ(program.finish().exit_code, 0);
}

TEST_F(Kinds, ThatTheDriverFailsToFreeAreStillThere) {
  Launch launch = kinds({"async"});
  launch.environment["CUDA_SIM_FAIL"] = "cuMemFreeAsync:1";
  Conversation program{launch};
  read_until(program, "held");
  program.write_line("");
  EXPECT_NE(read_until(program, "freed")["free async"], 0u);

  EXPECT_EQ(now(world_.device(program.pid(), "cuda:0")["kinds"], "async"), 300 * kKiB);
  EXPECT_EQ(program.finish().exit_code, 0);
}

// They are nodes of a graph, and its memory is nobody's in these books: not before its launch, not after.
TEST_F(Kinds, CapturedAllocationsAreNone) {
  Conversation program{world_.under_shim({TIDEMARK_TEST_PROGRAMS_UNCHANGED "/cuda_captured"})};
  const auto skip_to = [&](const std::string& word) {
    for (std::string line = program.read_line(); line != word; line = program.read_line()) {
      ASSERT_FALSE(line.empty()) << "no " << word << program.err();
    }
  };
  for (const char* word : {"captured", "launched"}) {
    skip_to(word);
    const nlohmann::json device = world_.device(program.pid(), "cuda:0");
    EXPECT_EQ(now(device["kinds"], "async"), 64 * kKiB) << word;
    EXPECT_EQ(device["kinds"]["async"]["total_count"], 1) << word;
    EXPECT_EQ(device["held"]["current_bytes"], 2 * kMiB + 64 * kKiB) << word;
    program.write_line("");
  }
  skip_to("freed");
  const nlohmann::json device = world_.device(program.pid(), "cuda:0");
  EXPECT_EQ(now(device["kinds"], "async"), 0u);
  EXPECT_EQ(device["kinds"]["async"]["current_count"], 0);
  EXPECT_EQ(usage_of(device).requested, 0u);
  program.write_line("");
  EXPECT_EQ(program.finish().exit_code, 0);
}

// How a context ends, and what the driver's answer is called.
class KindsAtTheEnd : public Kinds, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Of, KindsAtTheEnd, testing::Values("reset", "release", "destroy"),
                         [](const auto& one) { return one.param; });

// Pools' and physical memory outlive contexts; pitched, managed, pinned memory and arrays don't.
TEST_P(KindsAtTheEnd, GoWithTheirContextOrOutliveIt) {
  Conversation program{kinds({GetParam()})};
  const std::uint64_t pitched = read_until(program, "held").at("row") * 100;
  const nlohmann::json held = world_.device(program.pid(), "cuda:0");
  EXPECT_EQ(stat_of(held, "allocated_bytes.all.current"), pitched);

  program.write_line("");
  EXPECT_EQ(read_until(program, "ended").at(GetParam()), 0u);
  const nlohmann::json ended = world_.process(program.pid());
  const nlohmann::json& device = ended["devices"][0];
  EXPECT_EQ(usage_of(device), (Usage{0, 0, pitched, 0}));
  for (const char* gone : {"managed", "array", "imported"}) EXPECT_EQ(now(device["kinds"], gone), 0u) << gone;
  EXPECT_EQ(device["kinds"]["array"]["current_count"], 0);
  EXPECT_EQ(now(device["kinds"], "async"), 300 * kKiB);
  EXPECT_EQ(now(device["kinds"], "pool"), 500 * kKiB);
  EXPECT_EQ(now(device["kinds"], "vmm"), 6 * kMiB);
  EXPECT_EQ(device["held"]["current_bytes"], 800 * kKiB + 6 * kMiB);
  EXPECT_EQ(now(ended["host_kinds"], "pinned"), 0u);
  EXPECT_EQ(now(ended["host_kinds"], "registered"), 0u);
  EXPECT_EQ(now(ended["host_kinds"], "vmm"), 2 * kMiB);
  EXPECT_EQ(now(ended["host_kinds"], "pool"), 700 * kKiB);

  // Frees of what is gone get the driver's own answers, and count for nothing.
  program.write_line("");
  const auto freed = read_until(program, "freed");
  EXPECT_NE(freed.at("free managed"), 0u);
  EXPECT_EQ(freed.at("free vmm"), 0u);
  const nlohmann::json after = world_.process(program.pid());
  for (const char* kind : {"managed", "async", "pool", "vmm", "array", "imported"}) {
    EXPECT_EQ(after["devices"][0]["kinds"][kind]["current_bytes"], 0) << kind;
    EXPECT_EQ(after["devices"][0]["kinds"][kind]["current_count"], 0) << kind;
  }
  EXPECT_EQ(after["devices"][0]["held"]["current_bytes"], 0);
  EXPECT_EQ(now(after["host_kinds"], "vmm"), 0u);
  EXPECT_EQ(now(after["host_kinds"], "pool"), 0u);
  EXPECT_EQ(program.finish().exit_code, 0);
}

// One question of ours that fails leaves nothing in the books that is gone.
TEST_P(KindsAtTheEnd, AreForgottenWhateverQuestionOfOursFails) {
  for (const char* call : {"cuCtxGetCurrent", "cuCtxGetDevice", "cuCtxGetId", "cuDevicePrimaryCtxGetState"}) {
    for (int nth = 1; nth <= 4; ++nth) {
      SCOPED_TRACE(call + (":" + std::to_string(nth)));
      Launch launch = kinds({GetParam()});
      launch.environment["CUDA_SIM_FAIL"] = call + (":" + std::to_string(nth));
      Conversation program{launch};
      read_until(program, "held");
      program.write_line("");
      EXPECT_EQ(read_until(program, "ended").at(GetParam()), 0u);

      const nlohmann::json ended = world_.process(program.pid());

      EXPECT_EQ(stat_of(ended["devices"][0], "reserved_bytes.all.current"), 0u);
      for (const char* gone : {"managed", "array"}) EXPECT_EQ(now(ended["devices"][0]["kinds"], gone), 0u) << gone;
      for (const char* gone : {"pinned", "registered"}) EXPECT_EQ(now(ended["host_kinds"], gone), 0u) << gone;
      program.write_line("");
      read_until(program, "freed");
      EXPECT_EQ(program.finish().exit_code, 0);
    }
  }
}

TEST_P(KindsAtTheEnd, AreAnsweredAsNatively) {
  const Outcome native = run(ShimWorld::natively({TIDEMARK_TEST_PROGRAMS_UNCHANGED "/cuda_kinds", GetParam()}));

  EXPECT_EQ(run(kinds({GetParam()})), native);

  EXPECT_EQ(native.exit_code, 0);
}

TEST_F(Kinds, OfAContextWhoseEndFailsAreStillThere) {
  Launch launch = kinds({"destroy"});
  launch.environment["CUDA_SIM_FAIL"] = "cuCtxDestroy:1";
  Conversation program{launch};
  read_until(program, "held");
  const nlohmann::json held = world_.process(program.pid());
  program.write_line("");
  EXPECT_NE(read_until(program, "ended").at("destroy"), 0u);

  const nlohmann::json ended = world_.process(program.pid());
  EXPECT_EQ(ended["devices"][0]["kinds"], held["devices"][0]["kinds"]);
  EXPECT_EQ(ended["host_kinds"], held["host_kinds"]);
  EXPECT_EQ(usage_of(ended["devices"][0]), usage_of(held["devices"][0]));
  program.write_line("");
  for (const auto& [name, code] : read_until(program, "freed")) EXPECT_EQ(code, 0u) << name;
  EXPECT_EQ(program.finish().exit_code, 0);
}

}  // namespace
}  // namespace tidemark::test
