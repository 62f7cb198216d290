// Our own driver calls stay out of the program's captures.
#include "shim/backend/capture_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tidemark::backend {
namespace {

const int kStream = 0;
const int kOther = 0;
const int kContext = 0;

TEST(CaptureGate, GrantsHelperCallsWhileNoCaptureIsOpen) {
  CaptureGate gate;

  EXPECT_TRUE(CaptureGate::HelperToken{gate}.is_granted());
  gate.announce();
  EXPECT_FALSE(CaptureGate::HelperToken{gate}.is_granted()) << "from before the real call on";
  gate.begun(&kStream, &kContext);
  EXPECT_FALSE(CaptureGate::HelperToken{gate}.is_granted());
  gate.ended(&kStream);
  EXPECT_TRUE(CaptureGate::HelperToken{gate}.is_granted());
}

TEST(CaptureGate, GrantsACallThatNoCaptureNoticesInOneAndHasTheNextWaitForIt) {
  CaptureGate gate;
  std::atomic<bool> has_left{false};
  gate.announce();
  gate.begun(&kStream, &kContext);

  std::thread next;
  {
    const CaptureGate::HelperToken token{gate, CaptureGate::InCapture::Granted};
    EXPECT_TRUE(token.is_granted());
    next = std::thread{[&] {
      gate.announce();
      EXPECT_TRUE(has_left);
      gate.withdraw();
    }};
    has_left = true;
  }
  next.join();
}

TEST(CaptureGate, OpensAgainWhenTheBeginFails) {
  CaptureGate gate;

  gate.announce();
  gate.withdraw();

  EXPECT_FALSE(gate.is_open());
}

TEST(CaptureGate, IgnoresTheEndOfAStreamThatDoesNotCapture) {
  CaptureGate gate;
  gate.announce();
  gate.begun(&kStream, &kContext);

  gate.ended(&kOther);
  EXPECT_TRUE(gate.is_open());
  gate.ended(&kStream);
  gate.ended(&kStream);
  EXPECT_FALSE(gate.is_open());
}

TEST(CaptureGate, ForgetsTheCapturesOfAContextThatEnded) {
  CaptureGate gate;
  gate.announce();
  gate.begun(&kStream, &kContext);
  gate.announce();
  gate.begun(&kOther, &kStream);

  gate.context_ended(&kContext);
  EXPECT_TRUE(gate.is_open()) << "one of another context is left";
  gate.ended(&kOther);
  EXPECT_FALSE(gate.is_open());
}

TEST(CaptureGate, KeepsSeveralCapturesApart) {
  CaptureGate gate;
  gate.announce();
  gate.begun(&kStream, &kContext);
  gate.announce();
  gate.begun(nullptr, &kContext);

  gate.ended(&kStream);
  EXPECT_TRUE(gate.is_open());
  gate.ended(nullptr);
  EXPECT_FALSE(gate.is_open());
}

TEST(CaptureGate, IsShutAgainAfterAnyNumberOfCapturesAtOnce) {
  CaptureGate gate;
  std::vector<int> streams(1000);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    gate.announce();
    gate.begun(&streams[i], i % 2 == 0 ? &kContext : &kOther);
  }

  for (std::size_t i = 1; i < streams.size(); i += 2) {
    gate.ended(&streams[i]);
  }
  EXPECT_TRUE(gate.is_open());
  gate.context_ended(&kContext);
  EXPECT_FALSE(gate.is_open());
}

//   helper thread          capturing thread
//   takes a token
//                          announce() waits
//   gives it back
//                          goes on
TEST(CaptureGate, WaitsForHelperCallsUnderWay) {
  CaptureGate gate;
  std::atomic<bool> is_helper_inside{false};
  std::atomic<bool> may_leave{false};
  std::atomic<bool> has_left{false};
  std::thread helper{[&] {
    const CaptureGate::HelperToken token{gate};
    EXPECT_TRUE(token.is_granted());
    is_helper_inside = true;
    while (!may_leave) {
      std::this_thread::yield();
    }
    has_left = true;
  }};
  while (!is_helper_inside) {
    std::this_thread::yield();
  }

  std::thread letter_go{[&] {
    while (!gate.is_open()) {
      std::this_thread::yield();
    }
    may_leave = true;
  }};
  gate.announce();

  EXPECT_TRUE(has_left);
  gate.withdraw();
  helper.join();
  letter_go.join();
}

// A strict free must still wait for the device: while a context is being destroyed a helper call comes later, not
// never.
TEST(CaptureGate, HoldsHelperCallsBackDuringAnExclusiveCall) {
  CaptureGate gate;
  std::atomic<bool> is_over{false};
  gate.begin_exclusive();

  std::thread helper{[&] {
    const CaptureGate::HelperToken token{gate};
    EXPECT_TRUE(token.is_granted());
    EXPECT_TRUE(is_over);
  }};
  EXPECT_FALSE(gate.is_open()) << "nothing is to be skipped";
  is_over = true;
  gate.end_exclusive();
  helper.join();
}

TEST(CaptureGate, NeverGrantsACallDuringACapture) {
  CaptureGate gate;
  std::atomic<int> captures{0};
  std::atomic<int> helpers{0};
  std::atomic<int> clashes{0};
  std::thread capturing{[&] {
    for (int i = 0; i < 2000; ++i) {
      gate.announce();
      ++captures;
      clashes += helpers;
      gate.begun(&kStream, &kContext);
      --captures;
      gate.ended(&kStream);
    }
  }};
  for (int i = 0; i < 20000; ++i) {
    const CaptureGate::HelperToken token{gate};
    if (token.is_granted()) {
      ++helpers;
      clashes += captures;
      --helpers;
    }
  }
  capturing.join();

  EXPECT_EQ(clashes, 0);
}

}  // namespace
}  // namespace tidemark::backend
