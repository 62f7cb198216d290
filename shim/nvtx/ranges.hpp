// A program's NVTX ranges: what they are called, which are open, and what the program is answered. Every pointer and
// number may be nonsense.
//
// Threads: any. No heap, no lock: all of it stays good in a forked child.
#pragma once

#include <cstdint>

#include "shim/nvtx/measure.hpp"
#include "shim/nvtx/message_text.hpp"
#include "shim/nvtx/nvtx_abi.hpp"
#include "shim/nvtx/started_ranges.hpp"
#include "shim/nvtx/text_pool.hpp"
#include "shim/nvtx/thread_stacks.hpp"

namespace tidemark::nvtx {

class Ranges {
 public:
  static constexpr std::uint32_t kMostMessages = 1024;
  static constexpr std::uint32_t kMostDomains = 63;

  // Requires: `measure` outlives it.
  constexpr explicit Ranges(Measure& measure) noexcept : measure_(measure) {}

  // The same handle for the same text; further ones share a handle, and their ranges the row "(other)".
  [[nodiscard]] DomainHandle create_domain(const MessageText& text) noexcept;
  [[nodiscard]] StringHandle register_string(const MessageText& text) noexcept;

  // `Message` is a MessageText or `const EventAttributes*`. The level, from 0, or kNoTracking.
  template <class Message>
  [[nodiscard]] int push(DomainHandle domain, const Message& message) noexcept {
    const Place place = place_of(domain);
    const auto level = stacks_.push(place.number, measure_, [&] { return begin(place, message); });
    return level ? *level : kNoTracking;
  }
  // The level of what has ended, or kNothingOpen.
  [[nodiscard]] int pop(DomainHandle domain) noexcept;

  template <class Message>
  [[nodiscard]] RangeId start(DomainHandle domain, const Message& message) noexcept {
    const Place place = place_of(domain);
    return started_.start([&] { return begin(place, message); });
  }
  void end(RangeId id) noexcept;

 private:
  // Places of the pools: twice as many as texts and more, powers of 2.
  static constexpr std::uint32_t kMessagePlaces = 2048;
  static constexpr std::uint32_t kDomainPlaces = 128;
  static constexpr std::uint32_t kOtherDomain = kDomainPlaces + 1;
  static_assert(kOtherDomain < ThreadStacks::kMostDomains);

  struct Place {
    std::uint32_t number = 0;  // 0: the default domain
    const PooledText* domain = nullptr;
  };
  [[nodiscard]] Place place_of(DomainHandle domain) const noexcept;

  [[nodiscard]] const PooledText* kept(const MessageText& text) noexcept { return messages_.keep(text.operation()); }
  [[nodiscard]] const PooledText* kept(const EventAttributes* attributes) noexcept;
  template <class Message>
  [[nodiscard]] Range begin(const Place& place, const Message& message) noexcept {
    const PooledText* const text = place.number == kOtherDomain ? nullptr : kept(message);
    return {.domain = place.domain, .message = text, .mark = begin_mark()};
  }
  [[nodiscard]] Mark begin_mark() noexcept;

  Measure& measure_;
  TextPool messages_{kMostMessages, kMessagePlaces};
  TextPool domains_{kMostDomains, kDomainPlaces};
  ThreadStacks stacks_;
  StartedRanges started_;
};

}  // namespace tidemark::nvtx
