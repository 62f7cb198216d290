// Who has the library and no segment, in a /proc of the test's own.
#include "viewer/model/unpublished.hpp"

#include "tests/viewer/sample_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace tidemark::viewer {
namespace {

namespace fs = std::filesystem;

class UnpublishedTest : public testing::Test {
 protected:
  UnpublishedTest() {
    std::string pattern = "/tmp/tidemark-proc.XXXXXX";
    proc_ = mkdtemp(pattern.data());
  }
  ~UnpublishedTest() override {
    std::error_code ignored;
    fs::remove_all(proc_, ignored);
  }

  void add(int pid, const std::string& environment, const std::string& executable = "/usr/bin/train",
           bool has_library = true) const {
    const fs::path process = proc_ / std::to_string(pid);
    fs::create_directory(process);
    std::ofstream(process / "maps") << "7f00-7f01 r-xp 0 08:01 7    /usr/lib/libc.so.6\n"
                                    << (has_library ? "7f02-7f03 r-xp 0 08:01 8    /opt/lib/libtidemark.so\n" : "");
    std::string entries = environment + " ";
    std::replace(entries.begin(), entries.end(), ' ', '\0');
    std::ofstream(process / "environ", std::ios::binary) << entries;
    fs::create_symlink(executable, process / "exe");
  }
  [[nodiscard]] Unpublished find(const View& view = {}) const { return find_unpublished(view, directories_, proc_); }

  fs::path proc_;
  std::vector<fs::path> directories_{"/dev/shm"};
};

TEST_F(UnpublishedTest, WaitsUntilItAllocates) {
  add(100, "HOME=/root TIDEMARK_MODE=count TIDEMARK_DIR=/dev/shm");
  add(101, "");
  add(102, "", "/usr/bin/native", false);
  add(4711, "");  // sample_view() has it

  EXPECT_EQ(find(sample_view()).waiting, 2U);
  EXPECT_EQ(find(sample_view()).silent, 0U);
  EXPECT_EQ(find(sample_view()).elsewhere, 0U);
}

// For who names it as a target.
TEST_F(UnpublishedTest, HasTheLabelThatItWillHave) {
  add(100, "TIDEMARK_LABEL=eval");

  const std::vector<UnpublishedProcess> found = list_unpublished({}, directories_, proc_);

  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].pid, 100U);
  EXPECT_EQ(found[0].label, "eval");
  EXPECT_EQ(found[0].why, WhyUnpublished::Waiting);
  EXPECT_EQ(found[0].directory, "/dev/shm");
}

TEST_F(UnpublishedTest, IsSilentWhereItWasToldTo) {
  add(100, "TIDEMARK_SHM=off");
  add(101, "TIDEMARK_MODE=off");
  add(102, "TIDEMARK_SKIP=git,train");
  add(103, "TIDEMARK_SKIP=git,trainer");
  add(104, "TIDEMARK_ONLY_PID=103");
  add(105, "TIDEMARK_ONLY_PID=105");

  EXPECT_EQ(find().silent, 4U);
  EXPECT_EQ(find().waiting, 2U);
}

TEST_F(UnpublishedTest, IsComparedByItsOwnNumberInAContainer) {
  add(4000, "TIDEMARK_ONLY_PID=7");
  std::ofstream(proc_ / "4000/status") << "Name:\ttrain\nPid:\t4000\nNSpid:\t4000\t7\nVmPeak:\t1 kB\n";

  EXPECT_EQ(find().silent, 0U);
  EXPECT_EQ(find().waiting, 1U);
}

TEST_F(UnpublishedTest, IsElsewhereWithAnotherDirectory) {
  add(100, "TIDEMARK_DIR=/srv/segments");
  add(101, "TIDEMARK_DIR=/srv/segments");
  add(102, "TIDEMARK_DIR=/srv/segments TIDEMARK_SHM=memfd");

  EXPECT_EQ(find().elsewhere, 2U);
  EXPECT_EQ(find().directories, std::set<std::string>{"/srv/segments"});
  EXPECT_EQ(find().waiting, 1U) << "a memfd is found wherever it is";
}

TEST_F(UnpublishedTest, IsNotTheViewerItself) {
  add(100, "", fs::read_symlink("/proc/self/exe"));

  EXPECT_EQ(find().waiting, 0U);
}

}  // namespace
}  // namespace tidemark::viewer
