// Memory that is counted and not cached: its books, and the way of their numbers to the devices' `held` and into the
// segment. Threads: any.
#pragma once

#include "shim/alloc/kind_books.hpp"
#include "shim/publish/publisher.hpp"

namespace tidemark::runtime {

class Runtime;

class OtherKinds final : private alloc::KindSink {
 public:
  // Requires: both outlive it.
  OtherKinds(Runtime& runtime, publish::Publisher& publisher) noexcept : runtime_(runtime), publisher_(publisher) {}

  [[nodiscard]] alloc::KindBooks& books() noexcept { return books_; }

 private:
  void device_changed(std::uint32_t place, const DeviceKindCounts& counts, std::int64_t held_change) noexcept override;
  void host_changed(const HostKindCounts& counts) noexcept override;

  Runtime& runtime_;
  publish::Publisher& publisher_;
  alloc::KindBooks books_{*this};
};

}  // namespace tidemark::runtime
