// Segments that are cut off, overwritten or no files at all: an error code, never a crash, and never a process that
// isn't there.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "client/include/tidemark/tidemark.h"
#include "tests/viewer/fake_world.hpp"

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;

class HostileSegments : public testing::Test {
 protected:
  HostileSegments() {
    setenv("TIDEMARK_DIR", world_.directory().c_str(), 1);
    FakeProcess fake{world_};
    fake.kill();  // its files stay: a good segment, to be made bad
    id_ = fake.id();
    path_ = fake.path();
    std::ifstream file{path_, std::ios::binary};
    bytes_.assign(std::istreambuf_iterator<char>{file}, {});
  }
  ~HostileSegments() override { unsetenv("TIDEMARK_DIR"); }

  void put(const std::string& bytes) const {
    fs::remove(path_);
    std::ofstream{path_, std::ios::binary} << bytes;
  }

  // Every function on whatever opens; the code of opening it.
  int exercise() const {
    tidemark_process* process = nullptr;
    const int code = tidemark_open(id_.c_str(), &process);
    if (code != TIDEMARK_OK) {
      EXPECT_EQ(process, nullptr);
      EXPECT_STRNE(tidemark_error_detail(), "");
      return code;
    }
    tidemark_device_stats stats{};
    stats.size = sizeof stats;
    (void)tidemark_process_state(process);
    (void)tidemark_process_pid(process);
    (void)tidemark_process_label(process);
    const int devices = tidemark_process_device_count(process);
    for (int i = 0; i < devices; ++i) {
      EXPECT_NE(tidemark_process_device(process, i), nullptr);
    }
    for (const char* device : {static_cast<const char*>(nullptr), "cuda:0", "mtia:0"}) {
      (void)tidemark_memory_stats(process, device, &stats);
      (void)tidemark_get_memory_info(process, device, nullptr, nullptr);
      EXPECT_LT(tidemark_reset_peak_memory_stats(process, device), 0) << "nobody is there to do it";
      EXPECT_LT(tidemark_empty_cache(process, device), 0);
    }
    EXPECT_LT(tidemark_record_memory_history(process, "all", nullptr, 0), 0);
    EXPECT_LT(tidemark_export_memory_history(process, (world_.directory() + "/a.tmsnap").c_str()), 0);
    tidemark_close(process);
    return code;
  }

  const ShimWorld world_;
  std::string id_;
  std::string path_;
  std::string bytes_;
};

TEST_F(HostileSegments, CanBeCutOffAnywhere) {
  EXPECT_EQ(exercise(), TIDEMARK_OK) << "as it is, it can be read";
  int refused = 0;
  for (std::size_t size = 0; size < bytes_.size(); size += size < 4096 ? 97 : 1021) {
    put(bytes_.substr(0, size));
    refused += exercise() == TIDEMARK_ERROR_BAD_SEGMENT ? 1 : 0;
  }

  EXPECT_GT(refused, 10);
}

TEST_F(HostileSegments, CanHoldAnyBytes) {
  std::mt19937 random{20261130};
  for (int round = 0; round < 150; ++round) {
    std::string bytes = bytes_;
    const std::size_t span = round % 3 == 0 ? 512 : bytes.size();  // a third of them where sizes and offsets are
    for (int i = 0; i < 1 + round / 4; ++i) {
      bytes[random() % span] = static_cast<char>(random());
    }
    put(bytes);
    (void)exercise();
  }
  put(std::string(bytes_.size(), '\xff'));
  EXPECT_EQ(exercise(), TIDEMARK_ERROR_BAD_SEGMENT);
  put(std::string(bytes_.size(), '\0'));
  EXPECT_EQ(exercise(), TIDEMARK_ERROR_BAD_SEGMENT);
}

TEST_F(HostileSegments, CanBeNoFiles) {
  fs::remove(path_);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_LT(exercise(), 0) << "and nobody waits for its writer";
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_LT(exercise(), 0);
  fs::remove(path_);
  fs::create_symlink("/dev/zero", path_);
  EXPECT_LT(exercise(), 0);
  fs::remove(path_);
  EXPECT_EQ(exercise(), TIDEMARK_ERROR_NO_SUCH_PROCESS);
}

// What was opened as a good one, and loses its bytes under the reader.
TEST_F(HostileSegments, CanVanishOrShrinkWhileTheyAreOpen) {
  tidemark_process* process = nullptr;
  ASSERT_EQ(tidemark_open(id_.c_str(), &process), TIDEMARK_OK);
  EXPECT_EQ(tidemark_memory_allocated(process, nullptr), 100 << 20);

  ASSERT_EQ(chmod(path_.c_str(), 0600), 0);
  for (std::size_t size = bytes_.size() - 1;; size /= 2) {
    ASSERT_EQ(truncate(path_.c_str(), static_cast<off_t>(size)), 0);
    EXPECT_EQ(tidemark_memory_allocated(process, nullptr), TIDEMARK_ERROR_BAD_SEGMENT) << size;
    EXPECT_LT(tidemark_reset_peak_memory_stats(process, "all"), 0);
    if (size == 0) break;
  }
  fs::remove(path_);
  EXPECT_EQ(tidemark_memory_allocated(process, nullptr), TIDEMARK_ERROR_BAD_SEGMENT);
  tidemark_close(process);
}

}  // namespace
}  // namespace tidemark::test
