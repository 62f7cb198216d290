// The sampler thread of top: looks by itself, does what it is told, and never dies of a failed look.
#include "viewer/tui/sampler.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

namespace tidemark::viewer {
namespace {

constexpr std::chrono::hours kNever{24 * 365 * 10};  // longer than this machine has been up, too

// What a screen does: waits for news.
class News {
 public:
  [[nodiscard]] std::function<void()> listener() {
    return [this] {
      const std::lock_guard lock(mutex_);
      ++count_;
      changed_.notify_all();
    };
  }
  void wait_for(int count) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, std::chrono::minutes{1}, [&] { return count_ >= count; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

// The n-th look says so in `waiting`.
Sampler::Look counting_look() {
  return [n = std::size_t{0}](const Focus&, std::chrono::milliseconds) mutable {
    return Sample{.view = {}, .waiting = ++n};
  };
}

TEST(Sampler, LooksOnceAtOnce) {
  News news;
  Sampler sampler(counting_look(), kNever, news.listener());

  news.wait_for(1);

  ASSERT_NE(sampler.newest(), nullptr);
  EXPECT_EQ(sampler.newest()->waiting, 1U);
  EXPECT_FALSE(sampler.take_effect().has_value());
}

TEST(Sampler, LooksAgainAndAgain) {
  News news;
  Sampler sampler(counting_look(), std::chrono::milliseconds{1}, news.listener());

  news.wait_for(5);

  EXPECT_GE(sampler.newest()->waiting, 5U);
}

TEST(Sampler, TakesANewIntervalAtOnce) {
  News news;
  Sampler sampler(counting_look(), kNever, news.listener());
  news.wait_for(1);

  sampler.set_interval(std::chrono::milliseconds{1});

  news.wait_for(3);
}

TEST(Sampler, LooksAgainAtOnceWithAnotherFocusAndNotWithTheSame) {
  News news;
  Sampler sampler(
      [n = std::size_t{0}](const Focus& focus, std::chrono::milliseconds) mutable {
        return Sample{.view = {}, .waiting = ++n, .parents = Parents(focus.parents ? 1 : 0)};
      },
      kNever, news.listener());
  news.wait_for(1);

  sampler.set_focus({.parents = true});
  news.wait_for(2);
  EXPECT_EQ(sampler.newest()->parents.size(), 1U);

  sampler.set_focus({.parents = true});
  sampler.set_focus({.parents = false});
  news.wait_for(3);
  EXPECT_TRUE(sampler.newest()->parents.empty());
  EXPECT_EQ(sampler.newest()->waiting, 3U);
}

TEST(Sampler, DoesAJobAndThenLooksSoThatItsEffectIsSeen) {
  News news;
  Sampler sampler(counting_look(), kNever, news.listener());
  news.wait_for(1);

  sampler.order([](const View&) { return Sampler::Effect{.text = "done", .failed = false}; });
  news.wait_for(2);

  EXPECT_EQ(sampler.newest()->waiting, 2U);
  const auto effect = sampler.take_effect();
  ASSERT_TRUE(effect.has_value());
  EXPECT_EQ(effect->text, "done");
  EXPECT_FALSE(sampler.take_effect().has_value());
}

TEST(Sampler, TellsWhenAJobOrALookFails) {
  News news;
  Sampler sampler(
      [n = 0](const Focus&, std::chrono::milliseconds) mutable -> Sample {
        if (++n == 2) {
          throw std::runtime_error("cannot look");
        }
        return {.view = {}, .waiting = static_cast<std::size_t>(n)};
      },
      kNever, news.listener());
  news.wait_for(1);

  sampler.order([](const View&) -> Sampler::Effect { throw std::runtime_error("cannot act"); });
  news.wait_for(2);
  EXPECT_EQ(sampler.take_effect()->text, "cannot look");
  EXPECT_EQ(sampler.newest()->waiting, 1U);

  sampler.order([](const View&) -> Sampler::Effect { throw std::runtime_error("cannot act"); });
  news.wait_for(3);
  const auto effect = sampler.take_effect();
  EXPECT_EQ(effect->text, "cannot act");
  EXPECT_TRUE(effect->failed);
  EXPECT_EQ(sampler.newest()->waiting, 3U);
}

TEST(Sampler, EndsWhileItWaits) {
  News news;
  Sampler sampler(counting_look(), kNever, news.listener());
  news.wait_for(1);
}

}  // namespace
}  // namespace tidemark::viewer
