// A DeviceCache on a fake driver, a driven clock and a sink that checks what is published. Each test states its policy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "shared/base/bytes.hpp"
#include "shim/alloc/device_cache.hpp"
#include "tests/support/counted_sink.hpp"
#include "tests/support/fake_upstream.hpp"
#include "tests/support/test_clock.hpp"

namespace tidemark::test {

using alloc::DevicePtr;
using alloc::Policy;

class CacheRig {
 public:
  explicit CacheRig(const Policy& policy = Policy::cuda_default(), Bytes capacity = 8_GiB)
      : device(capacity),
        map(std::make_unique<alloc::SegmentMap>()),
        cache_(std::make_unique<alloc::DeviceCache>(device, &sink, *map, policy, capacity, TestClock::clock())) {
    TestClock::set(1'000'000'000);
  }
  ~CacheRig() { check(); }

  [[nodiscard]] alloc::DeviceCache& cache() { return *cache_; }

  [[nodiscard]] DevicePtr allocated(Bytes size, alloc::ContextId context = kContext) {
    const Result<DevicePtr> ptr = cache_->allocate(context, size);
    EXPECT_TRUE(ptr.ok()) << size.count() << " bytes refused";
    return ptr.ok() ? ptr.value() : DevicePtr{};
  }
  void freed(DevicePtr ptr) { EXPECT_TRUE(cache_->release(ptr).ok()); }

  [[nodiscard]] std::uint64_t operator[](BasisWord word) const { return sink.seen()[word]; }
  [[nodiscard]] std::uint64_t both(BasisWord small) const {
    return sink.seen().words[index_of(small)] +
           sink.seen().words[index_of(small) + index_of(BasisWord::large_live_blocks)];
  }
  [[nodiscard]] Bytes requested() const { return Bytes{both(BasisWord::small_requested_bytes)}; }
  [[nodiscard]] Bytes allocated_bytes() const { return Bytes{both(BasisWord::small_live_bytes)}; }
  [[nodiscard]] Bytes pending() const { return Bytes{both(BasisWord::small_pending_bytes)}; }
  [[nodiscard]] Bytes reserved() const { return Bytes{both(BasisWord::small_reserved_bytes)}; }
  [[nodiscard]] Bytes cached() const { return reserved() - allocated_bytes() - pending(); }
  [[nodiscard]] std::uint64_t hits() const {
    return both(BasisWord::small_allocations_total) - (*this)[BasisWord::misses] - (*this)[BasisWord::passed_through];
  }

  void check() {
    EXPECT_EQ(sink.complaint(), "");
    EXPECT_STREQ(cache_->check_invariants(), nullptr);
    EXPECT_EQ(device.calls().helper_calls_in_capture, helper_calls_that_met_a_capture);
    EXPECT_EQ(device.calls().refused_releases, 0U) << "the driver saw a pointer that it didn't give";
  }

  FakeUpstream device;
  CountedSink sink;
  std::unique_ptr<alloc::SegmentMap> map;
  unsigned helper_calls_that_met_a_capture = 0;  // what the test arranged

 private:
  std::unique_ptr<alloc::DeviceCache> cache_;
};

}  // namespace tidemark::test
