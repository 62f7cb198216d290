// The word by which a process knows that it is a new one.
#include "shim/runtime/fork_word.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace tidemark::runtime {
namespace {

int exit_code_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(ForkWord, LetsOneCallerBuild) {
  ForkWord word;

  EXPECT_EQ(word.load(), BuildState::None);
  EXPECT_TRUE(word.begin_building());
  EXPECT_FALSE(word.begin_building());
  EXPECT_EQ(word.load(), BuildState::Building);
  word.store(BuildState::Ready);
  EXPECT_EQ(word.load(), BuildState::Ready);
}

TEST(ForkWord, IsNoneInAForkedChildAndStaysInTheParent) {
  ForkWord word;
  word.store(BuildState::Ready);

  const pid_t child = fork();
  if (child == 0) {
    _exit(word.load() == BuildState::None && word.begin_building() ? 0 : 1);
  }

  EXPECT_EQ(exit_code_of(child), 0);
  EXPECT_EQ(word.load(), BuildState::Ready);
}

// Raw clone skips pthread_atfork handlers (HAMi-core#292: the child then ran its parent's clean-up).
TEST(ForkWord, IsNoneInAChildOfARawClone) {
  ForkWord word;
  word.store(BuildState::Ready);

  const long child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) {
    _exit(word.load() == BuildState::None ? 0 : 1);
  }

  EXPECT_EQ(exit_code_of(static_cast<pid_t>(child)), 0);
}

// A child that was forked while another thread was building must not wait for that thread for ever.
TEST(ForkWord, DoesNotStayBuildingInAChild) {
  ForkWord word;
  ASSERT_TRUE(word.begin_building());

  const pid_t child = fork();
  if (child == 0) {
    _exit(word.begin_building() ? 0 : 1);
  }

  EXPECT_EQ(exit_code_of(child), 0);
}

}  // namespace
}  // namespace tidemark::runtime
