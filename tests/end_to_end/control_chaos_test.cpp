// Viewers at their worst: several ask one busy guest for tens of thousands of things, are killed and stopped in the
// middle of it, and somebody truncates and scribbles on the control file. Nobody gets a wrong answer, every slot comes
// back, the guest lives, and its numbers are right.
//
//   TIDEMARK_CHAOS_COMMANDS  how many are to be done (20000); a viewer is killed for every hundredth of them
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <vector>

#include "shared/control/client.hpp"
#include "shared/segment/enumerate.hpp"
#include "tests/end_to_end/guests.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::test {
namespace {

using control::ControlClient;
using control::Operation;
using control::Order;
using control::OutcomeKind;
using segment::SegmentReader;

constexpr std::uint64_t kHeld = 5 * kMiB;          // by the guest, all the time
constexpr std::uint64_t kLimit = 1ULL << 40;       // more than the device has
constexpr std::chrono::milliseconds kAnswer{200};  // one that was scribbled over never comes
constexpr std::size_t kViewers = 6;

// Seen by all processes of the test; whoever is killed leaves what it has counted.
struct Tally {
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> unanswered{0};
  std::atomic<std::uint64_t> wrong{0};
};

class SharedTally {
 public:
  SharedTally()
      : tally_(new (mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Tally) {}
  SharedTally(const SharedTally&) = delete;
  SharedTally& operator=(const SharedTally&) = delete;
  ~SharedTally() { munmap(tally_, sizeof(Tally)); }
  Tally* operator->() const { return tally_; }

 private:
  Tally* tally_;
};

bool is_none(const control::Outcome& outcome) {
  for (const std::uint64_t result : outcome.results) {
    if (result != 0) return false;
  }
  return true;
}

// One viewer: a slot, some requests, and again. What each may answer is known, whatever the others do.
class Viewer {
 public:
  Viewer(const SegmentReader& reader, const SharedTally& tally, std::uint64_t seed)
      : reader_(reader), tally_(tally), random_(seed) {}

  void run() {
    for (;;) {
      auto client = ControlClient::open(reader_);
      // The head is under somebody's pen, or all slots are taken: not now.
      for (std::uint64_t left = client ? random_() % 20 : 0; left > 0; --left) ask(client.value());
    }
  }

 private:
  void ask(ControlClient& client) {
    switch (random_() % 8) {
      case 0:
        check(client, {.operation = Operation::Ping}, is_none);
        break;
      case 1:
        check(client, {.operation = Operation::ResetAccumulated}, is_none);
        break;
      case 2:
        check(client, {.operation = Operation::SetLimit, .arguments = {kLimit + random_() % 1000}}, is_none);
        break;
      case 3:
        check(client, {.operation = Operation::ClearLimit}, is_none);
        break;
      case 4:  // what is in use is never below what the guest holds
        check(client, {.operation = Operation::ResetPeak}, [](const control::Outcome& outcome) {
          return outcome.results[0] >= kHeld && outcome.results[1] >= kHeld && outcome.results[3] >= kHeld;
        });
        break;
      case 5:
        check_refusal(client, {.operation = Operation::ResetPeak, .device = 7});
        break;
      default:
        if (check(client, {.operation = Operation::BeginPeak}, is_none) == OutcomeKind::Done) {
          check(client, {.operation = Operation::ReadPeak, .device = 0}, [](const control::Outcome& outcome) {
            return outcome.results[0] >= kHeld && outcome.results[1] >= outcome.results[0] &&
                   outcome.results[2] >= outcome.results[1];
          });
        }
    }
  }

  template <class IsRight>
  OutcomeKind check(ControlClient& client, const Order& order, const IsRight& is_right) {
    const control::Outcome outcome = client.request(order, kAnswer);
    if (outcome.kind == OutcomeKind::Done) {
      // A request that had begun when it was withdrawn says only that it was done.
      const bool is_whole = outcome.status == segment::AckStatus::Done;
      tally_->wrong += is_whole && !is_right(outcome) && !is_none(outcome);
      ++tally_->done;
    } else {
      ++(outcome.kind == OutcomeKind::Refused ? tally_->wrong : tally_->unanswered);
    }
    return outcome.kind;
  }

  void check_refusal(ControlClient& client, const Order& order) {
    const control::Outcome outcome = client.request(order, kAnswer);
    tally_->wrong += outcome.kind == OutcomeKind::Done || outcome.kind == OutcomeKind::Gone;
    ++(outcome.kind == OutcomeKind::Refused ? tally_->refused : tally_->unanswered);
  }

  const SegmentReader& reader_;
  const SharedTally& tally_;
  std::mt19937_64 random_;
};

class ControlFile {
 public:
  explicit ControlFile(const std::string& path) : fd_(open(path.c_str(), O_RDWR | O_CLOEXEC)) { read(head_, 0); }
  ControlFile(const ControlFile&) = delete;
  ControlFile& operator=(const ControlFile&) = delete;
  ~ControlFile() { close(fd_); }

  // Anywhere behind the head: bell-less garbage in slots that somebody may be writing to.
  void scribble(std::mt19937_64& random) const {
    for (int i = 0; i < 16; ++i) {
      const std::uint64_t junk = random();
      const auto offset = sizeof(control::ControlHead) + random() % (sizeof(control::ControlImage) - 72);
      EXPECT_EQ(pwrite(fd_, &junk, sizeof junk, static_cast<off_t>(offset)), ssize_t{sizeof junk});
    }
  }
  void scribble_on_head(std::mt19937_64& random) const {
    control::ControlHead head = head_;
    head.magic = random();
    head.bell = static_cast<std::uint32_t>(random());
    write(head);
    write(head_);
  }
  void truncate() const {
    EXPECT_EQ(ftruncate(fd_, 0), 0);
    EXPECT_EQ(ftruncate(fd_, control::kControlBytes), 0);
    write(head_);
  }

 private:
  template <class Value>
  void read(Value& value, off_t offset) const {
    EXPECT_EQ(pread(fd_, &value, sizeof value, offset), ssize_t{sizeof value});
  }
  void write(const control::ControlHead& head) const {
    EXPECT_EQ(pwrite(fd_, &head, sizeof head, 0), ssize_t{sizeof head});
  }

  int fd_;
  control::ControlHead head_;
};

std::uint64_t wanted_commands() {
  const char* text = getenv("TIDEMARK_CHAOS_COMMANDS");
  const std::uint64_t number = text != nullptr ? std::strtoull(text, nullptr, 10) : 0;
  return number > 0 ? number : 20'000;
}

class ControlChaos : public testing::Test {
 protected:
  [[nodiscard]] SegmentReader reader() const {
    const std::string directory = world_.directory();
    return std::move(segment::list_segments({&directory, 1}).segments.at(0).reader);
  }
  [[nodiscard]] std::string pid() const { return std::to_string(guest_.pid()); }

  const ShimWorld world_;
  Guest guest_{world_.under_shim({test_program("guest_mtia")})};
};

TEST_F(ControlChaos, HarmsNobody) {
  guest_.alloc(kHeld);
  ASSERT_EQ(guest_.ask("churn 2"), "running");
  const SegmentReader reader = this->reader();
  const ControlFile file{segment::find_control_path(reader).value()};
  const SharedTally tally;
  std::mt19937_64 random{20261130};
  std::vector<std::unique_ptr<Child>> viewers;
  const auto new_viewer = [&] {
    const std::uint64_t seed = random();
    viewers.push_back(std::make_unique<Child>([&, seed] {
      Viewer{reader, tally, seed}.run();
      return 0;
    }));
  };
  for (std::size_t i = 0; i < kViewers; ++i) new_viewer();
  const std::uint64_t wanted = wanted_commands();
  const std::uint64_t apart = 100;

  std::uint64_t kills = 0;
  for (std::uint64_t next = apart; next <= wanted && !HasFailure(); next += apart) {
    while (tally->done + tally->refused < next && reader.is_owner_alive()) usleep(500);
    ASSERT_TRUE(reader.is_owner_alive());
    const std::size_t victim = random() % viewers.size();
    switch (random() % 4) {
      case 0:
        file.scribble(random);
        break;
      case 1:
        file.scribble_on_head(random);
        break;
      case 2:
        file.truncate();
        break;
      default:  // dies while it stands still, with whatever it was at half done
        viewers[victim]->send(SIGSTOP);
        viewers[victim]->wait_until_stopped();
        viewers[random() % viewers.size()]->send(SIGCONT);
    }
    viewers[victim]->send(SIGKILL);
    EXPECT_EQ(viewers[victim]->wait(), -SIGKILL);
    ++kills;
    viewers.erase(viewers.begin() + static_cast<std::ptrdiff_t>(victim));
    new_viewer();
  }
  viewers.clear();

  EXPECT_EQ(tally->wrong, 0U);
  EXPECT_GE(kills, wanted / apart);
  EXPECT_GE(reader.globals().requests_done, tally->done) << "each that was told as done was counted";
  EXPECT_GE(reader.globals().requests_refused, tally->refused);
  std::vector<ControlClient> all;
  for (std::size_t slot = 0; slot < control::kRequestSlots; ++slot) {
    auto client = ControlClient::open(reader);
    ASSERT_TRUE(client) << "slot " << slot << " is lost";
    all.push_back(std::move(client).value());
  }
  for (ControlClient& client : all) {
    const control::Outcome outcome = client.request({.operation = Operation::Ping}, std::chrono::seconds{60});
    EXPECT_EQ(outcome.kind, OutcomeKind::Done) << "slot " << client.slot() << ": " << outcome.detail;
  }
  all.clear();

  EXPECT_EQ(guest_.ask("stop"), "0") << "no allocation failed";
  for (const char* command : {"reset-accumulated", "reset-peak"}) {
    const Outcome outcome = world_.tidemark({command, pid()});
    EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  }
  const nlohmann::json before = world_.device(guest_.pid(), "mtia:0");
  EXPECT_EQ(usage_of(before).requested, kHeld);
  EXPECT_EQ(usage_of(before).peak, usage_of(before).allocated);
  EXPECT_EQ(stat_of(before, "allocation.all.allocated"), 0U);
  EXPECT_EQ(stat_of(before, "allocation.all.current"), 1U);
  guest_.alloc(1000);
  const nlohmann::json after = world_.device(guest_.pid(), "mtia:0");
  EXPECT_EQ(usage_of(after).allocated, usage_of(before).allocated + 1024);
  EXPECT_EQ(stat_of(after, "allocation.all.allocated"), 1U);
}

TEST_F(ControlChaos, EndsControlAndNothingElseWhenTheFileIsReplaced) {
  guest_.alloc(kHeld);
  ASSERT_EQ(guest_.ask("churn 2"), "running");
  const std::string path = segment::find_control_path(reader()).value();
  std::filesystem::copy_file(path, path + "x");
  std::filesystem::rename(path + "x", path);

  const Outcome outcome = world_.tidemark({"reset-peak", pid()});

  EXPECT_EQ(outcome.exit_code, 1) << describe(outcome);
  EXPECT_EQ(guest_.ask("stop"), "0");
  EXPECT_EQ(usage_of(world_.device(guest_.pid(), "mtia:0")).requested, kHeld);
  EXPECT_EQ(guest_.finish(), tidemark::test::Outcome{.exit_code = 0});
}

}  // namespace
}  // namespace tidemark::test
