// Published numbers derived from the basis.
#include "shared/segment/derive.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "tests/shared/scratch.hpp"

namespace tidemark::segment {
namespace {

using W = BasisWord;

std::int64_t value(const DeviceBasis& basis, std::string_view key) { return stat_value(basis, find_stat(key).value()); }

// One small block of 1000 B live, one of 512 B freed and pending; one large block of 4 MiB live in a segment of its
// own.
DeviceBasis small_world() {
  DeviceBasis basis;
  basis[W::small_live_blocks] = 1;
  basis[W::small_live_bytes] = 1024;
  basis[W::small_requested_bytes] = 1000 + 500;
  basis[W::small_pending_blocks] = 1;
  basis[W::small_pending_bytes] = 512;
  basis[W::small_allocations_total] = 5;
  basis[W::small_allocated_bytes_total] = 5000;
  basis[W::small_requested_bytes_total] = 4800;
  basis[W::small_split_blocks] = 1;
  basis[W::small_split_bytes] = 2097152 - 1536;
  basis[W::small_split_blocks_total] = 3;
  basis[W::small_split_bytes_total] = 3000000;
  basis[W::small_segments] = 1;
  basis[W::small_reserved_bytes] = 2097152;
  basis[W::small_segments_total] = 2;
  basis[W::small_reserved_bytes_total] = 4194304;
  basis[W::large_live_blocks] = 1;
  basis[W::large_live_bytes] = 4194304;
  basis[W::large_requested_bytes] = 3145728;
  basis[W::large_allocations_total] = 2;
  basis[W::large_allocated_bytes_total] = 8388608;
  basis[W::large_requested_bytes_total] = 6291456;
  basis[W::large_segments] = 1;
  basis[W::large_reserved_bytes] = 4194304;
  basis[W::large_segments_total] = 1;
  basis[W::large_reserved_bytes_total] = 4194304;
  basis[W::misses] = 3;
  basis[W::passed_through] = 1;
  basis[W::device_allocs] = 4;
  basis[W::device_frees] = 1;
  basis[W::alloc_retries] = 11;
  basis[W::ooms] = 12;
  basis[W::sync_all_streams] = 13;
  basis[W::free_wait_ns] = 14;
  basis[W::driver_ns] = 15;
  basis[W::held_bytes] = 6291456;
  basis[W::held_peak_bytes] = 6291456;
  basis[W::max_split_size] = static_cast<std::uint64_t>(-1);
  for (std::size_t i = index_of(W::peak_all_allocation); i <= index_of(W::peak_oversize_segments); ++i) {
    basis.words[i] = 10'000'000 + i;
  }
  for (const W lifetime :
       {W::lifetime_peak_allocated_bytes, W::lifetime_peak_reserved_bytes, W::lifetime_peak_held_bytes}) {
    basis[lifetime] = 20'000'000;
  }
  return basis;
}

TEST(Derive, AllIsSmallPlusLarge) {
  const DeviceBasis basis = small_world();

  EXPECT_EQ(value(basis, "allocated_bytes.small_pool.current"), 1024);
  EXPECT_EQ(value(basis, "allocated_bytes.large_pool.current"), 4194304);
  EXPECT_EQ(value(basis, "allocated_bytes.all.current"), 1024 + 4194304);
  EXPECT_EQ(value(basis, "requested_bytes.all.current"), 1500 + 3145728);
  EXPECT_EQ(value(basis, "segment.all.current"), 2);
  EXPECT_EQ(value(basis, "reserved_bytes.all.allocated"), 4194304 + 4194304);
  EXPECT_EQ(value(basis, "inactive_split.all.current"), 1);
  EXPECT_EQ(value(basis, "inactive_split_bytes.all.allocated"), 3000000);
}

TEST(Derive, ActiveIsAllocatedPlusPending) {
  const DeviceBasis basis = small_world();

  EXPECT_EQ(value(basis, "active.small_pool.current"), 2);
  EXPECT_EQ(value(basis, "active_bytes.small_pool.current"), 1024 + 512);
  EXPECT_EQ(value(basis, "active_bytes.all.current"), 1024 + 512 + 4194304);
  EXPECT_EQ(value(basis, "active.all.allocated"), value(basis, "allocation.all.allocated"));
  EXPECT_EQ(value(basis, "active_bytes.all.allocated"), value(basis, "allocated_bytes.all.allocated"));
}

TEST(Derive, FreedIsTotalMinusCurrent) {
  const DeviceBasis basis = small_world();

  EXPECT_EQ(value(basis, "allocation.small_pool.freed"), 5 - 1);
  EXPECT_EQ(value(basis, "active.small_pool.freed"), 5 - 2);
  EXPECT_EQ(value(basis, "allocated_bytes.all.freed"), 5000 + 8388608 - 1024 - 4194304);
  EXPECT_EQ(value(basis, "inactive_split.small_pool.freed"), 2);
}

// reset-accumulated: totals to 0 and the bases to what is there; freed then counts on from 0.
TEST(Derive, FreedStartsAtZeroAfterAReset) {
  DeviceBasis basis = small_world();
  basis[W::small_allocations_total] = 0;
  basis[W::base_small_allocation] = 1;
  basis[W::base_small_active] = 2;

  EXPECT_EQ(value(basis, "allocation.small_pool.freed"), 0);
  EXPECT_EQ(value(basis, "active.small_pool.freed"), 0);

  basis[W::small_live_blocks] = 0;  // the program frees its block
  basis[W::small_pending_blocks] = 2;
  EXPECT_EQ(value(basis, "allocation.small_pool.freed"), 1);
  EXPECT_EQ(value(basis, "active.small_pool.freed"), 0);
}

TEST(Derive, PeaksAreWordsOfTheirOwn) {
  const DeviceBasis basis = small_world();

  for (const auto& [key, word] : {std::pair{"allocated_bytes.all.peak", W::peak_all_allocated_bytes},
                                  std::pair{"reserved_bytes.small_pool.peak", W::peak_small_reserved_bytes},
                                  std::pair{"inactive_split_bytes.large_pool.peak", W::peak_large_inactive_split_bytes},
                                  std::pair{"allocation.all.peak", W::peak_all_allocation},
                                  std::pair{"oversize_allocations.peak", W::peak_oversize_blocks},
                                  std::pair{"oversize_segments.peak", W::peak_oversize_segments}}) {
    EXPECT_EQ(value(basis, key), static_cast<std::int64_t>(basis[word])) << key;
  }
}

TEST(Derive, PlainNumbersComeAsTheyAre) {
  DeviceBasis basis = small_world();
  basis[W::oversize_blocks] = 21;
  basis[W::oversize_blocks_total] = 30;
  basis[W::base_oversize_blocks] = 1;

  EXPECT_EQ(value(basis, "max_split_size"), -1);
  EXPECT_EQ(value(basis, "num_alloc_retries"), 11);
  EXPECT_EQ(value(basis, "num_ooms"), 12);
  EXPECT_EQ(value(basis, "num_sync_all_streams"), 13);
  EXPECT_EQ(value(basis, "num_device_alloc"), 4);
  EXPECT_EQ(value(basis, "num_device_free"), 1);
  EXPECT_EQ(value(basis, "oversize_allocations.current"), 21);
  EXPECT_EQ(value(basis, "oversize_allocations.allocated"), 30);
  EXPECT_EQ(value(basis, "oversize_allocations.freed"), 30 - 21 + 1);
}

// Change one word and see which keys follow: no key may be left behind, or follow a word that isn't its own.
TEST(Derive, EachStatisticFollowsItsWordAlone) {
  const DeviceBasis before = small_world();
  DeviceBasis after = before;
  after[W::large_requested_bytes] += 7;

  for (std::size_t i = 0; i < kStatKeys; ++i) {
    const auto key = static_cast<StatKey>(i);
    const std::string_view name = info_of(key).key;
    const bool grows = name == "requested_bytes.all.current" || name == "requested_bytes.large_pool.current";
    const bool shrinks = name == "requested_bytes.all.freed" || name == "requested_bytes.large_pool.freed";
    EXPECT_EQ(stat_value(after, key) - stat_value(before, key), grows ? 7 : shrinks ? -7 : 0) << name;
  }
}

TEST(Derive, CacheNumbersAddUp) {
  const DeviceBasis basis = small_world();
  const CacheNumbers cache = cache_numbers(basis);

  EXPECT_EQ(cache.hits, 7 - 3 - 1);
  EXPECT_EQ(cache.cached_bytes, 2097152 + 4194304 - (1024 + 512 + 4194304));
  EXPECT_EQ(cache.pending_free_bytes, 512);
  EXPECT_EQ(cache.free_wait_ns, 14);
  EXPECT_EQ(cache.driver_ns, 15);
  EXPECT_EQ(extra_value(basis, ExtraKey::CacheHits), 3);
  EXPECT_EQ(extra_value(basis, ExtraKey::HeldCurrentBytes), 6291456);
  EXPECT_EQ(extra_value(basis, ExtraKey::LifetimePeakHeldBytes), 20'000'000);
}

// A hostile file can hold anything; found by the fuzzer as an overflow.
TEST(Derive, SurvivesAnyWords) {
  DeviceBasis basis;
  for (std::size_t i = 0; i < kBasisWords; ++i) {
    basis.words[i] = i % 2 == 0 ? INT64_MAX : static_cast<std::uint64_t>(INT64_MIN) + i;
  }

  for (std::size_t i = 0; i < kStatKeys; ++i) {
    static_cast<void>(stat_value(basis, static_cast<StatKey>(i)));
  }
  EXPECT_NE(check_invariants(basis), std::nullopt);
}

TEST(Invariants, HoldInAConsistentWorld) {
  EXPECT_EQ(check_invariants(small_world()), std::nullopt);
  EXPECT_EQ(check_invariants(DeviceBasis{}), std::nullopt);
}

TEST(Invariants, NameWhatIsBroken) {
  const auto broken = [](W word, std::uint64_t wrong) {
    DeviceBasis basis = small_world();
    basis[word] = wrong;
    return check_invariants(basis);
  };
  constexpr auto kMinusOne = static_cast<std::uint64_t>(-1);

  EXPECT_EQ(broken(W::small_pending_bytes, kMinusOne), Invariant::ActiveIsAllocatedPlusPending);
  EXPECT_EQ(broken(W::large_reserved_bytes, 4194303), Invariant::ReservedIsActivePlusCached);
  EXPECT_EQ(broken(W::peak_small_allocated_bytes, 1023), Invariant::PeakIsAtLeastCurrent);
  EXPECT_EQ(broken(W::peak_all_active, 2), Invariant::PeakIsAtLeastCurrent);
  EXPECT_EQ(broken(W::held_peak_bytes, 1), Invariant::PeakIsAtLeastCurrent);
  EXPECT_EQ(broken(W::lifetime_peak_reserved_bytes, 1), Invariant::PeakIsAtLeastCurrent);
  EXPECT_EQ(broken(W::misses, 8), Invariant::AllocationsAreHitsMissesAndPassedThrough);
  EXPECT_EQ(broken(W::large_segments_total, 0), Invariant::FreedIsNotNegative);
  EXPECT_STREQ(to_text(Invariant::ReservedIsActivePlusCached), "reserved = active + cached");
}

}  // namespace
}  // namespace tidemark::segment
