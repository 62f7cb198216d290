// The one list of counters against the keys of PyTorch.
#include "shared/segment/counter_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace tidemark::segment {
namespace {

// PyTorch's rule, written down a second time: nine statistics by pools and fields, two without pools, six numbers.
std::vector<std::string> pytorch_keys() {
  std::vector<std::string> keys;
  const auto add_fields = [&keys](const std::string& prefix) {
    for (const char* field : {"current", "peak", "allocated", "freed"}) {
      keys.push_back(prefix + "." + field);
    }
  };
  for (const char* statistic : {"allocation", "segment", "active", "inactive_split", "allocated_bytes",
                                "reserved_bytes", "active_bytes", "inactive_split_bytes", "requested_bytes"}) {
    for (const char* pool : {"all", "small_pool", "large_pool"}) {
      add_fields(std::string{statistic} + "." + pool);
    }
  }
  add_fields("oversize_allocations");
  add_fields("oversize_segments");
  for (const char* number : {"num_alloc_retries", "num_ooms", "max_split_size", "num_sync_all_streams",
                             "num_device_alloc", "num_device_free"}) {
    keys.emplace_back(number);
  }
  std::ranges::sort(keys);
  return keys;
}

TEST(CounterList, IsPyTorchsKeysInPyTorchsOrder) {
  std::vector<std::string> ours;
  for (const CounterInfo& counter : counter_list()) {
    ours.emplace_back(counter.key);
  }

  EXPECT_EQ(ours.size(), 122u);
  EXPECT_EQ(ours, pytorch_keys());
}

TEST(CounterList, SaysKindAndUnit) {
  const auto info = [](std::string_view key) { return info_of(find_stat(key).value()); };

  EXPECT_EQ(info("allocated_bytes.all.current").kind, CounterKind::Gauge);
  EXPECT_EQ(info("allocated_bytes.all.current").unit, CounterUnit::Bytes);
  EXPECT_EQ(info("allocation.small_pool.peak").kind, CounterKind::Peak);
  EXPECT_EQ(info("allocation.small_pool.peak").unit, CounterUnit::Count);
  EXPECT_EQ(info("segment.large_pool.freed").kind, CounterKind::Total);
  EXPECT_EQ(info("max_split_size").kind, CounterKind::Setting);
  EXPECT_EQ(info("num_ooms").kind, CounterKind::Total);
}

TEST(CounterList, ExplainsEachCounterInOneSentenceOfItsOwn) {
  std::set<std::string_view> meanings;
  const auto check = [&meanings](const CounterInfo& counter) {
    EXPECT_TRUE(counter.meaning.ends_with('.')) << counter.key;
    EXPECT_TRUE(meanings.insert(counter.meaning).second) << counter.key << ": " << counter.meaning;
  };

  std::ranges::for_each(counter_list(), check);
  std::ranges::for_each(extra_list(), check);
}

TEST(CounterList, FindsEachKeyAndNothingElse) {
  for (std::size_t i = 0; i < kStatKeys; ++i) {
    EXPECT_EQ(find_stat(counter_list()[i].key), static_cast<StatKey>(i));
  }
  for (const char* other : {"", "allocated_bytes", "allocated_bytes.all", "allocated_bytes.all.current ", "zzz", "a"}) {
    EXPECT_EQ(find_stat(other), std::nullopt) << other;
  }
}

TEST(ExtraList, HasTheNamesOfTheJsonPage) {
  EXPECT_EQ(info_of(ExtraKey::CacheHits).key, "cache.hits");
  EXPECT_EQ(info_of(ExtraKey::CachePendingFreeBytes).key, "cache.pending_free_bytes");
  EXPECT_EQ(info_of(ExtraKey::CacheFreeWaitNs).key, "cache.free_wait_ns");
  EXPECT_EQ(info_of(ExtraKey::HeldPeakBytes).key, "held.peak_bytes");
  EXPECT_EQ(info_of(ExtraKey::LifetimePeakHeldBytes).key, "lifetime_peak.held_bytes");
}

}  // namespace
}  // namespace tidemark::segment
