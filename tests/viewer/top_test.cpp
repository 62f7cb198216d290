// `tidemark top` on a terminal of the test's own: keys, their effect, and that the terminal is put back.
#include "tests/viewer/viewer_world.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;

// A terminal whose screen this test reads as bytes.
class Pty {
 public:
  explicit Pty(winsize size) : master_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    grantpt(master_);
    unlockpt(master_);
    slave_ = open(ptsname(master_), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ioctl(slave_, TIOCSWINSZ, &size);
  }
  Pty(const Pty&) = delete;
  Pty& operator=(const Pty&) = delete;
  ~Pty() {
    hang_up();
    close(slave_);
  }

  [[nodiscard]] int slave() const { return slave_; }
  void type(std::string_view keys) const {
    ASSERT_EQ(write(master_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void hang_up() {
    if (master_ >= 0) {
      close(master_);
      master_ = -1;
    }
  }

  // Everything written so far and since, until `text` has come; "" and a failure if it doesn't within a minute.
  std::string wait_for(const std::string& text) {
    while (seen_.find(text) == std::string::npos) {
      pollfd file{.fd = master_, .events = POLLIN, .revents = 0};
      std::array<char, 4096> buffer;
      const ssize_t length = poll(&file, 1, 60'000) == 1 ? read(master_, buffer.data(), buffer.size()) : -1;
      if (length <= 0) {
        ADD_FAILURE() << "'" << text << "' did not come; there was: " << testing::PrintToString(seen_);
        return "";
      }
      seen_.append(buffer.data(), static_cast<std::size_t>(length));
    }
    return std::exchange(seen_, "");
  }

  [[nodiscard]] tcflag_t local_modes() const {
    termios modes{};
    tcgetattr(slave_, &modes);
    return modes.c_lflag;
  }

 private:
  int master_;
  int slave_;
  std::string seen_;
};

class Top : public testing::Test {
 protected:
  Process start(std::vector<std::string> words) {
    words.insert(words.begin(), "top");
    Launch launch = world_.viewer(std::move(words));
    launch.environment["TERM"] = "xterm";
    launch.environment["LC_ALL"] = "C.UTF-8";
    return Process(launch, pty_.slave(), pty_.slave(), pty_.slave());
  }

  ShimWorld world_;
  Pty pty_{winsize{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0}};
  // What xterm is told when a program leaves: the main screen again.
  const std::string leave_ = "\x1b[?1049l";
};

TEST_F(Top, ResetsThePeakOfTheSelectedRowAndLeavesCleanly) {
  FakeProcess live(world_, {"label=job"});
  const tcflag_t before = pty_.local_modes();
  Process top = start({});
  pty_.wait_for("job: fake");
  EXPECT_EQ(pty_.local_modes() & ICANON, 0U);

  pty_.type("e");
  pty_.wait_for("give the cached memory of " + live.pid() + " cuda:0 back? y: yes, any other key: no");
  pty_.type("n");
  pty_.wait_for("nothing was given back");
  pty_.type("r");
  pty_.wait_for(live.pid() + " cuda:0: peak 300.0 MiB -> 100.0 MiB (allocated now)");
  pty_.type("jr");
  pty_.wait_for("mtia:0: peak 300.0 MiB -> 100.0 MiB (allocated now)");
  pty_.type("q");
  pty_.wait_for(leave_);

  EXPECT_EQ(top.wait().exit_code, 0);
  EXPECT_EQ(pty_.local_modes(), before);
  EXPECT_EQ(usage_of(world_.device(std::stoi(live.pid()), "cuda:0")).peak, 100U << 20);
}

TEST_F(Top, ShowsProcessesThatComeLater) {
  Process top = start({"-i", "0.1"});
  pty_.wait_for("nothing yet");

  FakeProcess live(world_, {"label=late"});
  pty_.wait_for("late: fake");
  pty_.type("q");

  EXPECT_EQ(top.wait().exit_code, 0);
}

TEST_F(Top, FollowsTheTerminalsSize) {
  FakeProcess live(world_);
  Process top = start({});
  pty_.wait_for("fake");

  const winsize small{.ws_row = 4, .ws_col = 30, .ws_xpixel = 0, .ws_ypixel = 0};
  ioctl(pty_.slave(), TIOCSWINSZ, &small);
  top.signal(SIGWINCH);  // it is not the terminal's foreground group, so nobody else tells it
  pty_.wait_for("terminal too small");
  const winsize wide{.ws_row = 40, .ws_col = 150, .ws_xpixel = 0, .ws_ypixel = 0};
  ioctl(pty_.slave(), TIOCSWINSZ, &wide);
  top.signal(SIGWINCH);
  pty_.wait_for("RETRIES");  // a column that only a wide screen has
  pty_.type("q");

  EXPECT_EQ(top.wait().exit_code, 0);
}

TEST_F(Top, IsReadonlyWhenToldSo) {
  FakeProcess live(world_);
  Process top = start({"--readonly"});
  pty_.wait_for("fake");

  pty_.type("r");
  pty_.wait_for("nothing is changed");
  pty_.type("q");

  EXPECT_EQ(top.wait().exit_code, 0);
  EXPECT_EQ(usage_of(world_.device(std::stoi(live.pid()), "cuda:0")).peak, 300U << 20);
}

TEST_F(Top, ShowsAPeakOfItsOwnAlsoWhereItIsReadonly) {
  FakeProcess live(world_);
  Process top = start({"--readonly"});
  pty_.wait_for("fake");

  pty_.type("m");
  pty_.wait_for("my peak 150.0 MiB (held 500.0 MiB) since ");
  pty_.type("q");

  EXPECT_EQ(top.wait().exit_code, 0);
}

TEST_F(Top, EmptiesTheCacheOfTheSelectedRowOnceItIsConfirmed) {
  FakeProcess live(world_);
  Process top = start({});
  pty_.wait_for("fake");

  pty_.type("e");
  pty_.wait_for("y: yes, any other key: no");
  pty_.type("q");
  pty_.wait_for("nothing was given back");
  EXPECT_EQ(usage_of(world_.device(std::stoi(live.pid()), "cuda:0")).reserved, 400U << 20);
  pty_.type("ey");
  pty_.wait_for("cuda:0: gave back 300.0 MiB of 400.0 MiB");
  pty_.type("q");

  EXPECT_EQ(top.wait().exit_code, 0);
  EXPECT_EQ(usage_of(world_.device(std::stoi(live.pid()), "cuda:0")).reserved, 100U << 20);
  EXPECT_EQ(usage_of(world_.device(std::stoi(live.pid()), "mtia:0")).reserved, 400U << 20);
}

TEST_F(Top, TellsEverythingAboutARowAndADevice) {
  FakeProcess live(world_, {"label=job"});
  Process top = start({});
  pty_.wait_for("fake");

  // Drawn anew each time: else only what changes is written, and no text comes in one piece.
  pty_.type("\r\x0c");
  pty_.wait_for("service thread");
  pty_.type("G\x0c");
  pty_.wait_for("lifetime_peak.held_bytes");
  pty_.type("\t\x0c");
  pty_.wait_for("not ours");
  pty_.type("q");

  EXPECT_EQ(top.wait().exit_code, 0);
}

TEST_F(Top, SaysWhenAProcessRefuses) {
  FakeProcess closed(world_, {"policy=off"});
  Process top = start({});
  pty_.wait_for("fake");

  pty_.type("r");
  pty_.wait_for("refused");
  pty_.type("q");

  EXPECT_EQ(top.wait().exit_code, 0);
}

TEST_F(Top, PutsTheTerminalBackWhenASignalEndsIt) {
  FakeProcess live(world_);
  const tcflag_t before = pty_.local_modes();
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    Process top = start({});
    pty_.wait_for("fake");

    top.signal(number);
    pty_.wait_for(leave_);
    (void)top.wait();  // by that signal, where no sanitizer has a say

    EXPECT_EQ(pty_.local_modes(), before) << number;
  }
}

// SIGPIPE, SIGUSR1 and the other ones left the alternate screen standing.
TEST_F(Top, PutsTheTerminalBackAndDiesByTheSignalThatEndedIt) {
  FakeProcess live(world_);
  const tcflag_t before = pty_.local_modes();
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF,
                           SIGXCPU, SIGXFSZ, SIGSYS, SIGTRAP, SIGPOLL, SIGPWR, SIGSTKFLT, SIGRTMIN, SIGRTMAX}) {
    Process top = start({});
    pty_.wait_for("fake");

    top.signal(number);
    pty_.wait_for(leave_);

    EXPECT_EQ(top.wait().signal, number);
    EXPECT_EQ(pty_.local_modes(), before) << number;
  }
}

// The thread that looks had every signal blocked, so that a crash of its own ended the program past the handlers.
TEST_F(Top, PutsTheTerminalBackWhenAnotherThreadCrashes) {
  FakeProcess live(world_);
  const tcflag_t before = pty_.local_modes();
  Process top = start({});
  pty_.wait_for("fake");

  std::vector<pid_t> threads;
  for (const auto& thread : fs::directory_iterator("/proc/" + std::to_string(top.pid()) + "/task")) {
    threads.push_back(std::stoi(thread.path().filename()));
  }
  std::erase(threads, top.pid());
  ASSERT_FALSE(threads.empty());
  for (const pid_t id : threads) {  // all at once, as far as the first leaves any
    ASSERT_TRUE(syscall(SYS_tgkill, top.pid(), id, SIGSEGV) == 0 || (errno == ESRCH && id != threads.front()));
  }
  pty_.wait_for(leave_);
  (void)top.wait();

  EXPECT_EQ(pty_.local_modes(), before);
}

TEST_F(Top, LeavesIgnoredWhatWasIgnored) {
  FakeProcess live(world_);
  std::signal(SIGUSR1, SIG_IGN);
  Process top = start({});
  std::signal(SIGUSR1, SIG_DFL);
  pty_.wait_for("fake");

  top.signal(SIGUSR1);
  pty_.type("?");
  pty_.wait_for("leave (also F10, Ctrl-C)");
  pty_.type("q");

  EXPECT_EQ(top.wait().exit_code, 0);
}

TEST_F(Top, EndsWithItsTerminal) {
  FakeProcess live(world_);
  Process top = start({});
  pty_.wait_for("fake");

  pty_.hang_up();

  EXPECT_EQ(top.wait().signal, SIGHUP);
}

TEST_F(Top, RefusesTargetsThatAreNotThere) {
  Process top = start({"4000000"});

  EXPECT_EQ(top.wait().exit_code, 3);
  pty_.wait_for("no process '4000000'");
}

}  // namespace
}  // namespace tidemark::test
