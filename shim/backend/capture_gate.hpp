// Keeps our own driver calls out of stream captures: a call that is unsafe during a capture (a synchronise, an event
// query, a driver free) invalidates a capture of any thread, which a program that avoids such calls has not deserved.
//
// Threads: any. A capture is announced *before* the real call begins it and waits for helper calls under way; a helper
// call takes a token first and is skipped while a capture is open. A capture that we never saw begin can't be
// respected. Memory: a page for each 255 captures that are open at once, never given back.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tidemark::backend {

class CaptureGate {
 public:
  // For a call that keeps captures out of itself: it is held back like any other while a context is being destroyed,
  // and waited for before a capture begins.
  enum class InCapture { Refused, Granted };

  // The right to make helper calls while it lives, or not.
  class HelperToken {
   public:
    explicit HelperToken(CaptureGate& gate) noexcept : gate_(gate), is_granted_(gate.enter()) {}
    HelperToken(CaptureGate& gate, InCapture in_capture) noexcept
        : gate_(gate), is_granted_(gate.enter_slowly(in_capture)) {}
    ~HelperToken() {
      if (is_granted_) {
        gate_.leave();
      }
    }
    HelperToken(const HelperToken&) = delete;
    HelperToken& operator=(const HelperToken&) = delete;

    [[nodiscard]] bool is_granted() const noexcept { return is_granted_; }

   private:
    CaptureGate& gate_;
    bool is_granted_;
  };

  // Around a call during which no helper call may run though none is forbidden (a context is being destroyed): helper
  // calls wait for its end instead of being skipped.
  void begin_exclusive() noexcept;
  void end_exclusive() noexcept { exclusive_.fetch_sub(1, std::memory_order_acq_rel); }

  // Around the real begin call. Waits until no helper call is under way, a second at most: such a call may itself wait
  // for something that the beginning thread has yet to do.
  void announce() noexcept;
  // The real call failed: nothing was begun.
  void withdraw() noexcept;
  // It succeeded on `stream`, which is what ended() will be told; `context` owns it.
  void begun(const void* stream, const void* context) noexcept;
  // The capture of `stream` ended, or the stream was destroyed; any other stream is fine too.
  void ended(const void* stream) noexcept;
  // All captures of a context that is gone.
  void context_ended(const void* context) noexcept;

  [[nodiscard]] bool is_open() const noexcept { return (word_.load(std::memory_order_acquire) >> kCaptureShift) != 0; }

 private:
  // Low half: helper calls under way; high half: captures announced or open.
  static constexpr unsigned kCaptureShift = 32;
  static constexpr std::uint64_t kOneCapture = std::uint64_t{1} << kCaptureShift;

  bool enter() noexcept {
    if (exclusive_.load(std::memory_order_acquire) == 0 && !is_open()) [[likely]] {
      const bool is_announced = (word_.fetch_add(1, std::memory_order_seq_cst) >> kCaptureShift) != 0;
      if (!is_announced && exclusive_.load(std::memory_order_seq_cst) == 0) [[likely]] {
        return true;
      }
      leave();  // one of the two came in between
    }
    return enter_slowly(InCapture::Refused);
  }
  bool enter_slowly(InCapture in_capture) noexcept;
  void wait_for_helpers() noexcept;
  void leave() noexcept { word_.fetch_sub(1, std::memory_order_acq_rel); }

  std::atomic<std::uint64_t> word_{0};
  std::atomic<std::uint32_t> exclusive_{0};
  // Streams that capture now; a null stream: a free place. More are added as a program needs them and kept; where there
  // is no memory for them, a capture stays open in the count for good, which costs caching and nothing else.
  struct Place {
    std::atomic<const void*> stream{nullptr};
    std::atomic<const void*> context{nullptr};
  };
  struct Places {
    std::array<Place, 255> some{};  // fills a page
    std::atomic<Places*> more{nullptr};
  };
  // The first place, in the order of their making, of which `visit` says true; whether there is one.
  template <class Visit>
  bool find_place(Visit&& visit) noexcept;
  [[nodiscard]] static Places* more_than(Places& places) noexcept;  // made if need be

  Places places_;
};

}  // namespace tidemark::backend
