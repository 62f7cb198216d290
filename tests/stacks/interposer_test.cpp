// A walk in every malloc of programs that have never heard of us.
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "shim/stacks/capture.hpp"

namespace {

using tidemark::stacks::Ending;

struct Output {
  int status = -1;
  std::string text;
};

Output run(const std::string& command) {
  Output output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> part{};
  while (pipe != nullptr && fgets(part.data(), part.size(), pipe) != nullptr) {
    output.text += part.data();
  }
  output.status = pclose(pipe);
  return output;
}

// Where the walks of a program and its children are counted: by how they ended.
class Counts {
 public:
  Counts() {
    const std::array<std::uint64_t, 3> none{};
    EXPECT_EQ(write(fd_, none.data(), sizeof none), static_cast<ssize_t>(sizeof none));
  }
  ~Counts() {
    close(fd_);
    unlink(path_.data());
  }
  Counts(const Counts&) = delete;
  Counts& operator=(const Counts&) = delete;

  [[nodiscard]] std::string path() const { return path_.data(); }
  [[nodiscard]] std::uint64_t of(tidemark::stacks::Ending ending) const {
    std::uint64_t count = 0;
    const auto place = static_cast<off_t>(static_cast<std::size_t>(ending) * sizeof count);
    EXPECT_EQ(pread(fd_, &count, sizeof count, place), static_cast<ssize_t>(sizeof count));
    return count;
  }

 private:
  std::array<char, 32> path_{"/tmp/tidemark-test.XXXXXX"};
  int fd_ = mkstemp(path_.data());
};

void expect_unharmed(const std::string& program) {
  const Counts counts;
  const Output native = run(program);
  const Output walked = run("LD_PRELOAD=" TIDEMARK_MALLOC_WALKER " TIDEMARK_WALKS=" + counts.path() + " " + program);

  EXPECT_EQ(native.status, 0) << native.text;
  EXPECT_EQ(walked.status, native.status);
  EXPECT_EQ(walked.text, native.text);
  const std::uint64_t whole = counts.of(Ending::Outermost) + counts.of(Ending::Full);
  EXPECT_GT(whole, 100u);
  // Also of those in constructors, which the loader calls from a function without tables.
  EXPECT_EQ(counts.of(Ending::Lost), 0u);
}

TEST(WalksInMalloc, LeaveAShellAlone) {
  expect_unharmed("/bin/sh -c 'for i in 1 2 3 4 5 6 7 8 9; do echo $i; done; ls / | wc -l'");
}

TEST(WalksInMalloc, LeaveThreadsFibersAndLoadingAlone) {
  expect_unharmed(TIDEMARK_CAPTURE_TEST " --gtest_brief=1 --gtest_print_time=0");
}

TEST(WalksInMalloc, LeavePythonAlone) {
  expect_unharmed(
      "/usr/bin/env python3 -c 'import threading, ctypes, json\n"
      "def work(n): return json.dumps([n] * 100) if n % 3 else sorted([str(i) for i in range(n)])\n"
      "ts = [threading.Thread(target=lambda: [work(n) for n in range(60)]) for _ in range(4)]\n"
      "[t.start() for t in ts]; [t.join() for t in ts]; print(len(ts))'");
}

}  // namespace
