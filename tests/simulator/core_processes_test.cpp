// What concerns several processes: capacity that they share, and state that a forked child doesn't inherit.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "simulator/core/per_process.hpp"
#include "simulator/core/shared_capacity.hpp"

namespace sim {
namespace {

using testing::HasSubstr;

// A child that runs `body` and then waits to be killed or let go.
class Child {
 public:
  explicit Child(const std::function<void()>& body) {
    int done[2];
    if (pipe(go_) != 0 || pipe(done) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      body();
      if (write(done[1], "!", 1) != 1) _exit(1);
      char ignored = 0;
      close(go_[1]);
      _exit(read(go_[0], &ignored, 1) == 1 ? 0 : 1);
    }
    char ignored = 0;
    close(done[1]);
    EXPECT_EQ(read(done[0], &ignored, 1), 1);
    close(done[0]);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) end();
    close(go_[0]);
    close(go_[1]);
  }

  // Leaves a zombie until end().
  void kill_and_leave_a_zombie() const {
    kill(pid_, SIGKILL);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }
  void end() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  int go_[2] = {-1, -1};
  pid_t pid_ = -1;
};

class SharedCapacityTest : public testing::Test {
 protected:
  void TearDown() override { EXPECT_FALSE(exists()) << "left behind: " << path(); }

  [[nodiscard]] std::string file() const { return file_; }
  [[nodiscard]] std::string path() const { return "/dev/shm/" + file(); }
  [[nodiscard]] bool exists() const { return access(path().c_str(), F_OK) == 0; }

  std::unique_ptr<SharedCapacity> join() {
    std::string why;
    auto joined = SharedCapacity::join(file(), why);
    EXPECT_NE(joined, nullptr) << why;
    return joined;
  }

 private:
  const std::string file_ = "toy_sim.test." + std::to_string(getpid());  // the same in forked children
};

TEST_F(SharedCapacityTest, AddsUpWhatAllUse) {
  const auto first = join();
  const auto second = join();

  EXPECT_TRUE(first->charge(0, 600, 1000));
  EXPECT_FALSE(second->charge(0, 401, 1000));
  EXPECT_TRUE(second->charge(0, 400, 1000));
  EXPECT_TRUE(second->charge(1, 1000, 1000));
  EXPECT_EQ(first->used(0), 1000);
  first->discharge(0, 600);
  EXPECT_EQ(second->used(0), 400);
  EXPECT_EQ(second->used(1), 1000);
}

TEST_F(SharedCapacityTest, IsRemovedByTheLastWhoLeaves) {
  auto first = join();
  auto second = join();
  EXPECT_TRUE(first->charge(0, 600, 1000));

  first.reset();
  EXPECT_TRUE(exists());
  EXPECT_EQ(second->used(0), 0);

  second->leave();
  EXPECT_FALSE(exists());
  EXPECT_TRUE(second->charge(0, 5000, 1000));
  EXPECT_FALSE(second->is_joined());
  EXPECT_EQ(second->used(0), 0);
}

TEST_F(SharedCapacityTest, ForgetsAProcessThatWasKilled) {
  const auto mine = join();
  Child other{[this] {
    std::string why;
    SharedCapacity::join(file(), why).release()->charge(0, 700, 1000);  // never left
  }};
  EXPECT_EQ(mine->used(0), 700);
  EXPECT_FALSE(mine->charge(0, 301, 1000));

  other.kill_and_leave_a_zombie();
  EXPECT_EQ(mine->used(0), 0);
  other.end();
  EXPECT_TRUE(mine->charge(0, 1000, 1000));
}

TEST_F(SharedCapacityTest, SurvivesProcessesThatAreKilledAtAnyInstant) {
  const auto mine = join();
  for (int round = 0; round < 20; ++round) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      std::string why;
      auto* theirs = SharedCapacity::join(file(), why).release();
      if (write(ready[1], "!", 1) != 1) _exit(1);
      for (;;) {
        theirs->charge(0, 1, 1000);
        theirs->discharge(0, 1);
      }
    }
    char ignored = 0;
    ASSERT_EQ(read(ready[0], &ignored, 1), 1);
    close(ready[0]);
    close(ready[1]);
    for (int i = 0; i < 50 * round; ++i) EXPECT_LE(mine->used(0), 1);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    EXPECT_EQ(mine->used(0), 0);
  }
}

TEST_F(SharedCapacityTest, IsNotInheritedByAForkedChild) {
  const auto mine = join();
  EXPECT_TRUE(mine->charge(0, 100, 1000));

  Child child{[] {}};
  child.end();

  EXPECT_EQ(mine->used(0), 100);
}

TEST_F(SharedCapacityTest, RefusesAFileOfSomethingElse) {
  std::string why;
  const int fd = open(path().c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_EQ(write(fd, "hello", 5), 5);
  close(fd);
  EXPECT_EQ(SharedCapacity::join(file(), why), nullptr);
  EXPECT_THAT(why, HasSubstr("not a table of shared capacity"));
  unlink(path().c_str());

  EXPECT_EQ(SharedCapacity::join("a/b", why), nullptr);
  EXPECT_EQ(SharedCapacity::join("", why), nullptr);
  EXPECT_THAT(why, HasSubstr("no '/'"));
}

TEST_F(SharedCapacityTest, TakesOverAFileWhoseMakerDiedBeforeItWasReady) {
  close(open(path().c_str(), O_CREAT | O_WRONLY, 0600));

  const auto mine = join();

  EXPECT_TRUE(mine->charge(0, 1000, 1000));
}

TEST_F(SharedCapacityTest, LeavesAFileAloneThatReplacedItsOwn) {
  auto mine = join();
  unlink(path().c_str());
  const auto others = join();

  mine.reset();

  EXPECT_TRUE(exists());
  EXPECT_EQ(others->used(0), 0);
}

struct Counted {
  int made_by = getpid();
};

TEST(PerProcess, IsMadeOnceHoweverManyAskForIt) {
  static constinit PerProcess<Counted> object;
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  EXPECT_EQ(object.find(), nullptr);

  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      static Counted storage;
      object.find_or_make([&] {
        ++made;
        return &storage;
      });
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(made, 1);
  EXPECT_NE(object.find(), nullptr);
}

TEST(PerProcess, IsMadeAnewInAForkedChild) {
  static constinit PerProcess<Counted> object;
  static Counted first;
  EXPECT_FALSE(object.is_forked_child());
  object.find_or_make([] { return &first; });

  const pid_t pid = fork();
  if (pid == 0) {
    const bool unmade = object.find() == nullptr && object.is_forked_child();
    static Counted second;
    second.made_by = getpid();
    const bool made = object.find_or_make([] { return &second; }).made_by == getpid();
    _exit(unmade && made && !object.is_forked_child() ? 0 : 1);
  }
  int status = -1;
  waitpid(pid, &status, 0);

  EXPECT_EQ(status, 0);
  EXPECT_EQ(object.find(), &first);
  EXPECT_FALSE(object.is_forked_child());
}

TEST(PerProcess, TriesAgainAfterAMakerThatThrew) {
  static constinit PerProcess<Counted> object;
  static Counted made;

  EXPECT_THROW(object.find_or_make([]() -> Counted* { throw 1; }), int);
  EXPECT_EQ(object.find(), nullptr);
  EXPECT_EQ(&object.find_or_make([] { return &made; }), &made);
}

}  // namespace
}  // namespace sim
