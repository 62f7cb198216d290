// Looks at the machine, one after another.
#include "viewer/model/collect.hpp"

#include "viewer/model/departed.hpp"

#include "shared/segment/writer.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::viewer {
namespace {

namespace fs = std::filesystem;

class Collect : public testing::Test {
 protected:
  Collect() {
    std::string pattern = "/tmp/tidemark-collect.XXXXXX";
    directories_.emplace_back(mkdtemp(pattern.data()));
  }
  ~Collect() override {
    std::error_code ignored;
    fs::remove_all(directories_.front(), ignored);
  }
  [[nodiscard]] segment::SegmentWriter publish() const {
    segment::WriterOptions options;
    options.directory = directories_.front().c_str();
    return segment::SegmentWriter::create(options).value();
  }
  // Memfds of others are seen as well.
  [[nodiscard]] static std::vector<const ProcessView*> own(const View& view) {
    std::vector<const ProcessView*> found;
    for (const ProcessView& process : view.processes) {
      if (process.snapshot.pid == getpid()) {
        found.push_back(&process);
      }
    }
    return found;
  }

  std::vector<fs::path> directories_;
};

TEST_F(Collect, OpensWhatItKnowsOnce) {
  const segment::SegmentWriter first = publish();
  const View before = collect(directories_);
  const segment::SegmentWriter second = publish();

  const View after = collect(directories_, {.view = &before});

  ASSERT_EQ(own(before).size(), 1U);
  ASSERT_EQ(own(after).size(), 2U);
  EXPECT_EQ(own(after)[0]->reader, own(before)[0]->reader);
  EXPECT_NE(own(after)[1]->reader, nullptr);
}

TEST_F(Collect, SeesNewNumbersThroughAReaderThatItKnows) {
  segment::SegmentWriter writer = publish();
  const View before = collect(directories_);
  writer.set_mode(segment::ProcessMode::Count, "because");

  const View after = collect(directories_, {.view = &before});

  EXPECT_EQ(own(after).at(0)->snapshot.globals.mode, segment::ProcessMode::Count);
}

TEST_F(Collect, ForgetsWhatIsNotThereAnyMore) {
  segment::SegmentWriter writer = publish();
  const View before = collect(directories_);
  writer.remove_files();

  EXPECT_TRUE(own(collect(directories_, {.view = &before})).empty());
}

TEST_F(Collect, ListsAFileInTwoDirectoriesOnce) {
  const segment::SegmentWriter writer = publish();
  directories_.push_back(directories_.front() / ".");
  const View before = collect(directories_);

  EXPECT_EQ(own(before).size(), 1U);
  EXPECT_EQ(own(collect(directories_, {.view = &before})).size(), 1U);
}

// A process with a segment that has no name.
class MemfdHost {
 public:
  MemfdHost() {
    std::array<int, 2> ready{};
    if (pipe(ready.data()) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      segment::WriterOptions options;
      options.backing = segment::Backing::Memfd;
      const auto made = segment::SegmentWriter::create(options);
      (void)!write(ready[1], made ? "+" : "-", 1);
      for (;;) pause();
    }
    char answer = 0;
    EXPECT_EQ(read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, '+');
    close(ready[0]);
    close(ready[1]);
  }
  MemfdHost(const MemfdHost&) = delete;
  MemfdHost& operator=(const MemfdHost&) = delete;
  ~MemfdHost() { end(); }

  void end() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      waitpid(std::exchange(pid_, -1), nullptr, 0);
    }
  }
  [[nodiscard]] std::shared_ptr<const segment::SegmentReader> reader_in(const View& view) const {
    for (const ProcessView& process : view.processes) {
      if (process.snapshot.pid == pid_) return process.reader;
    }
    return nullptr;
  }

 private:
  pid_t pid_ = -1;
};

TEST_F(Collect, KeepsMemfdsWithoutLookingForThem) {
  const MemfdHost first;
  const View before = collect(directories_);
  const MemfdHost second;

  const View quick = collect(directories_, {.view = &before, .looks_everywhere = false});
  const View whole = collect(directories_, {.view = &quick});

  ASSERT_NE(first.reader_in(before), nullptr);
  EXPECT_EQ(first.reader_in(quick), first.reader_in(before));
  EXPECT_EQ(second.reader_in(quick), nullptr);
  EXPECT_EQ(first.reader_in(whole), first.reader_in(before));
  EXPECT_NE(second.reader_in(whole), nullptr);
}

TEST_F(Collect, LetsAMemfdGoWithItsProcess) {
  MemfdHost host;
  const View before = collect(directories_);
  const auto reader = host.reader_in(before);
  ASSERT_NE(reader, nullptr);
  host.end();

  const View quick = collect(directories_, {.view = &before, .looks_everywhere = false});

  for (const ProcessView& process : quick.processes) {
    EXPECT_NE(process.reader, reader);
  }
}

TEST_F(Collect, RemembersThatAProcessRunsAnotherProgramWhenThatHasEnded) {
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe2(ready.data(), O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const segment::SegmentWriter writer = publish();
    execl("/bin/sleep", "sleep", "1000", static_cast<char*>(nullptr));
    _exit(1);
  }
  close(ready[1]);
  char byte = 0;
  EXPECT_EQ(read(ready[0], &byte, 1), 0) << "closed by the exec";
  close(ready[0]);
  const auto state_in = [](const View& view) { return view.processes.at(0).snapshot.state; };

  View before = collect(directories_);
  while (state_in(before) == segment::ProcessState::Live) {
    before = collect(directories_);  // the kernel gives the lock back a little later
  }
  ::kill(child, SIGKILL);
  waitpid(child, nullptr, 0);

  EXPECT_EQ(state_in(before), segment::ProcessState::Replaced);
  EXPECT_EQ(state_in(collect(directories_, {.view = &before})), segment::ProcessState::Replaced);
  const View light = without_numbers(before);
  EXPECT_EQ(state_in(collect(directories_, {.view = &light})), segment::ProcessState::Replaced);
  EXPECT_EQ(state_in(collect(directories_)), segment::ProcessState::Killed) << "who did not see it can't tell";
}

// What top does: a look, and those who left since the one before.
class Looks : public Collect {
 protected:
  const View& look(const std::string& kept = {}) {
    View view = collect(directories_, {.view = &before_, .looks_everywhere = false});
    View light = without_numbers(view);
    departed_.add_to(view, before_, now_, kept);
    before_ = std::move(light);
    shown_ = std::move(view);
    return shown_;
  }
  void let_pass(std::chrono::nanoseconds time) { now_ += std::chrono::duration_cast<Departed::Time::duration>(time); }
  // A program that ends in its own way.
  static void leave(std::unique_ptr<segment::SegmentWriter> writer) {
    writer->mark_exited();
    writer->remove_files();
  }
  [[nodiscard]] std::unique_ptr<segment::SegmentWriter> publish_one() const {
    return std::make_unique<segment::SegmentWriter>(publish());
  }

  Departed::Time now_{};

 private:
  View before_;
  View shown_;
  Departed departed_;
};

TEST_F(Looks, ShowAProcessThatEndedForAWhileWithItsLastNumbers) {
  auto writer = publish_one();
  const auto later = publish_one();
  look();
  writer->set_mode(segment::ProcessMode::Count, "its last word");
  leave(std::move(writer));

  const auto shown = own(look());
  ASSERT_EQ(shown.size(), 2U);
  EXPECT_EQ(shown[0]->snapshot.state, segment::ProcessState::Exited) << "in its place, before the younger one";
  EXPECT_EQ(shown[0]->snapshot.globals.mode_reason, "its last word");
  EXPECT_EQ(shown[1]->snapshot.state, segment::ProcessState::Live);

  let_pass(Departed::kKept - std::chrono::milliseconds{1});
  EXPECT_EQ(own(look()).size(), 2U);
  let_pass(std::chrono::milliseconds{1});
  EXPECT_EQ(own(look()).size(), 1U);
}

TEST_F(Looks, ShowAProcessThatEndedAtLeastOnce) {
  auto writer = publish_one();
  look();
  leave(std::move(writer));
  let_pass(std::chrono::hours{1});

  EXPECT_EQ(own(look()).size(), 1U);
  let_pass(std::chrono::hours{1});
  EXPECT_TRUE(own(look()).empty());
}

TEST_F(Looks, ShowAProcessThatEndedForAsLongAsItsPageIsOpen) {
  auto writer = publish_one();
  const std::string id = own(look()).at(0)->id();
  leave(std::move(writer));
  look();
  let_pass(std::chrono::hours{1});

  EXPECT_EQ(own(look(id)).size(), 1U);
  EXPECT_TRUE(own(look()).empty());
}

// It takes its files away before it has ended, and may take its time.
TEST_F(Looks, ShowAProcessOnItsWayOutAsItIs) {
  const auto writer = publish_one();
  look();
  writer->mark_exited();
  writer->remove_files();

  ASSERT_EQ(own(look()).size(), 1U);
  let_pass(std::chrono::hours{1});
  ASSERT_EQ(own(look()).size(), 1U);
  EXPECT_EQ(own(look()).at(0)->snapshot.state, segment::ProcessState::Live);
}

TEST_F(Looks, DoNotShowWhatSomebodyRemoved) {
  const auto living = publish_one();
  auto dead = publish_one();
  dead->mark_exited();
  const std::string left_behind = dead->path();
  dead.reset();
  ASSERT_EQ(own(look()).size(), 2U);
  fs::remove(living->path());
  fs::remove(left_behind);

  EXPECT_TRUE(own(look()).empty());
}

TEST_F(Looks, ShowAKilledProcessWhoseSegmentHadNoName) {
  MemfdHost host;
  View before = collect(directories_);
  const auto reader = host.reader_in(before);
  ASSERT_NE(reader, nullptr);
  host.end();
  View after = collect(directories_, {.view = &before});
  ASSERT_EQ(host.reader_in(after), nullptr);

  Departed departed;
  departed.add_to(after, before, now_);

  unsigned met = 0;
  for (const ProcessView& process : after.processes) {
    if (process.reader == reader) {
      EXPECT_EQ(process.snapshot.state, segment::ProcessState::Killed);
      ++met;
    }
  }
  EXPECT_EQ(met, 1U);
}

}  // namespace
}  // namespace tidemark::viewer
