// Many processes at once, as Python starts them in both of its ways: each is counted for itself, and none hangs.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

constexpr int kChildren = 64;

class Multiprocessing : public testing::Test {
 protected:
  [[nodiscard]] Launch python(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     {"/usr/bin/python3", "-B", TIDEMARK_TEST_SOURCE "/guest/multiprocessing_guest.py"});
    return world_.under_shim(std::move(arguments));
  }
  // Requested bytes of every process that is seen, smallest first.
  [[nodiscard]] std::vector<std::uint64_t> requested() const {
    std::vector<std::uint64_t> all;
    const nlohmann::json page = world_.ps();
    for (const nlohmann::json& process : page["processes"]) {
      EXPECT_EQ(process["state"], "live");
      for (const nlohmann::json& device : process["devices"]) all.push_back(usage_of(device).requested);
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  static std::vector<std::uint64_t> of_the_children() {
    std::vector<std::uint64_t> all;
    for (std::uint64_t child = 1; child <= kChildren; ++child) all.push_back(child * 1000);
    return all;
  }

  const ShimWorld world_;
};

TEST_F(Multiprocessing, ForkedChildrenStandAlone) {
  Conversation program{python({"fork", std::to_string(kChildren)})};
  ASSERT_EQ(program.read_line(), "64 hold, [0]") << program.err();

  EXPECT_EQ(requested(), of_the_children());

  EXPECT_EQ(program.ask(""), "ended [0]") << program.err();
  EXPECT_EQ(program.finish(), Outcome{.exit_code = 0});
  // Such children end with _exit, past every handler: nobody can tell them from killed ones.
  EXPECT_EQ(world_.tidemark({"gc"}).exit_code, 0);
  EXPECT_EQ(world_.files(), std::vector<std::string>{});
}

// The driver refuses the child of a process that had used it (error 3), and the parent's memory stays the parent's.
TEST_F(Multiprocessing, ChildrenForkedFromAUserOfTheDeviceAreRefusedAsNatively) {
  Conversation program{python({"fork", std::to_string(kChildren), "used"})};
  ASSERT_EQ(program.read_line(), "64 hold, [3]") << program.err();

  EXPECT_EQ(requested(), std::vector<std::uint64_t>{3 * kMiB});

  EXPECT_EQ(program.ask(""), "ended [3]") << program.err();
  EXPECT_EQ(program.read_line(), "free 0");
  EXPECT_EQ(program.finish(), Outcome{.exit_code = 0});
  EXPECT_EQ(world_.files(), std::vector<std::string>{});
}

TEST_F(Multiprocessing, SpawnedChildrenStandAlone) {
  Conversation program{python({"spawn", std::to_string(kChildren), "used"})};
  ASSERT_EQ(program.read_line(), "64 hold, [0]") << program.err();

  std::vector<std::uint64_t> all = of_the_children();
  all.push_back(3 * kMiB);
  EXPECT_EQ(requested(), all);

  EXPECT_EQ(program.ask(""), "ended [0]") << program.err();
  EXPECT_EQ(program.read_line(), "free 0");
  EXPECT_EQ(program.finish(), Outcome{.exit_code = 0});
  EXPECT_EQ(world_.files(), std::vector<std::string>{});
}

}  // namespace
}  // namespace tidemark::test
