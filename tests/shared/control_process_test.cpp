// Control between processes: stopped and killed hosts, viewers killed at random.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <random>
#include <set>
#include <utility>

#include "tests/shared/control_world.hpp"

namespace tidemark::control {
namespace {

using namespace std::chrono_literals;
using segment::AckStatus;
using segment::ControlPolicy;
using segment::SegmentReader;
using test::Bell;
using test::Child;

// A host in a process of its own. Ping answers how many other requests have run; SetLimit kills the process.
class HostProcess {
 public:
  HostProcess() : child_([this] { return run(); }) {
    if (!ready_.wait()) {
      throw std::runtime_error{"the host could not start"};
    }
  }
  [[nodiscard]] SegmentReader reader() const {
    const std::string path = directory_.path();
    return std::move(segment::list_segments({&path, 1}).segments.at(0).reader);
  }
  Child& child() { return child_; }

 private:
  struct Counter : RequestHandler {
    Answer handle(const Request& request) noexcept override {
      Answer answer;
      if (request.operation == Operation::SetLimit) {
        ::raise(SIGKILL);
      }
      answer.results[0] = request.operation == Operation::Ping ? count : ++count;
      return answer;
    }
    std::uint64_t count = 0;
  };

  int run() {
    segment::WriterOptions options = test::options_in(directory_);
    options.control = &companion_file();
    auto writer = segment::SegmentWriter::create(options);
    if (!writer) {
      return 1;
    }
    Counter handler;
    ControlHost host{writer.value(), handler, ControlPolicy::Full};
    ready_.ring();
    for (;;) {
      host.poll();
      host.wait(1s);
    }
  }

  test::TemporaryDirectory directory_;
  Bell ready_;
  Child child_;
};

TEST(HostProcess, AnswersAViewer) {
  HostProcess host;
  const SegmentReader reader = host.reader();
  ControlClient client = ControlClient::open(reader).value();

  EXPECT_EQ(client.request({.operation = Operation::ResetPeak}, 60s).kind, OutcomeKind::Done);
  EXPECT_EQ(client.request({.operation = Operation::Ping}, 60s).results[0], 1u);
}

TEST(HostProcess, ThatIsStoppedRunsNothingAfterwards) {
  HostProcess host;
  const SegmentReader reader = host.reader();
  ControlClient client = ControlClient::open(reader).value();
  host.child().send(SIGSTOP);
  host.child().wait_until_stopped();

  const Outcome outcome = client.request({.operation = Operation::ResetPeak}, 10ms);

  EXPECT_EQ(outcome.kind, OutcomeKind::Indeterminate);
  EXPECT_NE(outcome.detail.find("stopped"), std::string::npos) << outcome.detail;
  host.child().send(SIGCONT);
  EXPECT_EQ(client.request({.operation = Operation::Ping}, 60s).results[0], 0u) << "withdrawn before it was seen";
}

TEST(HostProcess, ThatDiesOverARequestIsGone) {
  HostProcess host;
  const SegmentReader reader = host.reader();
  ControlClient client = ControlClient::open(reader).value();

  EXPECT_EQ(client.request({.operation = Operation::SetLimit}, 60s).kind, OutcomeKind::Gone);
  EXPECT_EQ(client.request({.operation = Operation::Ping}, 60s).kind, OutcomeKind::Gone);
  EXPECT_EQ(host.child().wait(), -SIGKILL);
}

TEST(HostProcess, OfAnotherUserIsOutOfReach) {
  if (!test::is_root()) {
    GTEST_SKIP() << "needs root to become another user";
  }
  HostProcess host;
  const SegmentReader reader = host.reader();  // opened while we may
  Child other{[&] {
    if (!test::become_nobody()) {
      return 2;
    }
    const auto client = ControlClient::open(reader);
    return !client.ok() && client.error().code == ErrorCode::PermissionDenied ? 0 : 1;
  }};

  EXPECT_EQ(other.wait(), 0);
}

// Each request carries a number twice; a torn one would differ, one that ran twice would be seen twice.
class CheckingHandler : public RequestHandler {
 public:
  Answer handle(const Request& request) noexcept override {
    is_wrong_ |= request.arguments[1] != ~request.arguments[0];
    is_wrong_ |= !seen_.insert({request.slot, request.ticket}).second;
    return {.status = AckStatus::Done, .detail = {}, .results = {request.arguments[0] + 1}};
  }
  [[nodiscard]] bool is_wrong() const { return is_wrong_; }
  [[nodiscard]] std::size_t count() const { return seen_.size(); }

 private:
  std::set<std::pair<std::uint32_t, std::uint64_t>> seen_;
  bool is_wrong_ = false;
};

int request_for_ever(const SegmentReader& reader) {
  for (;;) {
    auto client = ControlClient::open(reader);
    if (!client) {
      return 3;
    }
    for (std::uint64_t i = 1; i < 20; ++i) {
      const Outcome outcome = client.value().request({.operation = Operation::ResetPeak, .arguments = {i, ~i}}, 60s);
      if (outcome.kind != OutcomeKind::Done || outcome.results[0] != i + 1) {
        return 4;
      }
    }
  }
}

TEST(Viewers, KilledAtRandomDisturbNobody) {
  const test::TemporaryDirectory directory;
  segment::WriterOptions options = test::options_in(directory);
  options.control = &companion_file();
  auto writer = segment::SegmentWriter::create(options).value();
  CheckingHandler handler;
  ControlHost host{writer, handler, ControlPolicy::Full};
  const SegmentReader reader = SegmentReader::open(writer.path()).value();
  std::mt19937_64 random{7};
  const auto new_viewer = [&] { return std::make_unique<Child>([&] { return request_for_ever(reader); }); };
  std::vector<std::unique_ptr<Child>> viewers;
  for (int i = 0; i < 4; ++i) {
    viewers.push_back(new_viewer());
  }

  for (int kills = 0; kills < 60; ++kills) {
    for (std::uint64_t looks = random() % 20; looks > 0; --looks) {
      host.wait(2ms);
      host.poll();
    }
    const std::size_t victim = random() % viewers.size();
    viewers[victim]->send(SIGKILL);
    EXPECT_EQ(viewers[victim]->wait(), -SIGKILL) << "a viewer found something wrong";
    viewers[victim] = new_viewer();
  }
  viewers.clear();
  while (host.poll() > 0) {
  }

  EXPECT_FALSE(handler.is_wrong());
  EXPECT_GT(handler.count(), 0u);
  std::vector<ControlClient> all;
  for (std::size_t i = 0; i < kRequestSlots; ++i) {
    all.push_back(ControlClient::open(reader).value());  // no dead viewer holds a slot
  }
  ASSERT_TRUE(all[0].post({.operation = Operation::ResetPeak, .arguments = {5, ~std::uint64_t{5}}}).ok());
  host.poll();
  EXPECT_EQ(all[0].wait(0ns).kind, OutcomeKind::Done);
}

}  // namespace
}  // namespace tidemark::control
