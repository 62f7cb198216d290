// The allocator's own containers, each against the obvious one.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "shim/alloc/address_index.hpp"
#include "shim/alloc/free_index.hpp"
#include "shim/alloc/live_map.hpp"
#include "shim/alloc/node_table.hpp"

namespace tidemark::test {
namespace {

using namespace alloc;

// Blocks of given sizes, in no segment.
class Blocks {
 public:
  BlockIndex add(std::uint64_t size, std::uint64_t address = 0) {
    EXPECT_TRUE(table.reserve(1));
    const BlockIndex index = table.take();
    table[index] = {};
    table[index].size = size;
    table[index].address = address;
    return index;
  }
  BlockTable table;
};

TEST(NodeTable, GivesIndicesFromOneAndReusesFreedOnes) {
  Blocks blocks;
  EXPECT_EQ(blocks.add(1), 1U);
  EXPECT_EQ(blocks.add(1), 2U);
  EXPECT_EQ(blocks.add(1), 3U);

  blocks.table.give(2);
  blocks.table.give(1);

  EXPECT_EQ(blocks.table.in_use(), 1U);
  EXPECT_EQ(blocks.add(1), 1U);
  EXPECT_EQ(blocks.add(1), 2U);
  EXPECT_EQ(blocks.add(1), 4U);
}

TEST(NodeTable, KeepsItsNodesWhileItGrows) {
  Blocks blocks;
  for (std::uint64_t i = 1; i <= 100'000; ++i) {
    ASSERT_EQ(blocks.add(i), i);
  }

  for (std::uint32_t i = 1; i <= 100'000; ++i) {
    ASSERT_EQ(blocks.table[i].size, i);
  }
}

TEST(FreeIndex, LooksAtFourOfItsOwnBinForTheTightest) {
  Blocks blocks;
  const auto index = std::make_unique<FreeIndex>();
  // One bin holds 64 to 71.5 KiB. The last inserted is looked at first.
  const BlockIndex fifth = blocks.add(64 << 10);
  const BlockIndex fourth = blocks.add(66 << 10);
  const BlockIndex third = blocks.add(70 << 10);
  const BlockIndex second = blocks.add(68 << 10);
  const BlockIndex first = blocks.add(71 << 10);
  for (const BlockIndex block : {fifth, fourth, third, second, first}) {
    index->insert(blocks.table, block);
  }

  EXPECT_EQ(index->find(blocks.table, 64 << 10, ~0ULL), fourth) << "the fifth would be tighter";
  EXPECT_EQ(index->find(blocks.table, 67 << 10, ~0ULL), second);
  index->remove(blocks.table, second);
  EXPECT_EQ(index->find(blocks.table, 64 << 10, ~0ULL), fifth);
  EXPECT_EQ(index->find(blocks.table, 67 << 10, ~0ULL), third);
}

TEST(FreeIndex, GoesUpwardToTheFirstBinThatHasAny) {
  Blocks blocks;
  const auto index = std::make_unique<FreeIndex>();
  const BlockIndex far = blocks.add(std::uint64_t{1} << 40);
  index->insert(blocks.table, far);

  EXPECT_EQ(index->find(blocks.table, 512, ~0ULL), far);
  const BlockIndex near = blocks.add(8192);
  index->insert(blocks.table, near);
  EXPECT_EQ(index->find(blocks.table, 512, ~0ULL), near);
  EXPECT_EQ(index->find(blocks.table, 8704, ~0ULL), far);
  EXPECT_EQ(index->largest(blocks.table), std::uint64_t{1} << 40);
}

TEST(FreeIndex, KeepsToTheMost) {
  Blocks blocks;
  const auto index = std::make_unique<FreeIndex>();
  const BlockIndex block = blocks.add(32 << 20);
  index->insert(blocks.table, block);

  EXPECT_EQ(index->find(blocks.table, 28 << 20, 32 << 20), block);
  EXPECT_EQ(index->find(blocks.table, 28 << 20, (32 << 20) - 1), 0U);
  EXPECT_EQ(index->find(blocks.table, 33 << 20, ~0ULL), 0U);
}

TEST(FreeIndex, HoldsWhatWasPutInOverRandomCommands) {
  std::mt19937_64 random{7};
  Blocks blocks;
  const auto index = std::make_unique<FreeIndex>();
  std::vector<BlockIndex> held;
  for (int step = 0; step < 20'000; ++step) {
    if (held.empty() || random() % 5 < 3) {
      const std::uint64_t size = (1 + random() % (std::uint64_t{1} << (random() % 20))) * 512;
      held.push_back(blocks.add(size));
      index->insert(blocks.table, held.back());
    } else {
      std::swap(held[random() % held.size()], held.back());
      index->remove(blocks.table, held.back());
      blocks.table.give(held.back());
      held.pop_back();
    }
    const std::uint64_t least = (1 + random() % (std::uint64_t{1} << (random() % 20))) * 512;
    const BlockIndex found = index->find(blocks.table, least, ~0ULL);
    if (found != 0) {
      ASSERT_GE(blocks.table[found].size, least);
      ASSERT_NE(std::find(held.begin(), held.end(), found), held.end());
    }
  }

  std::size_t counted = 0;
  index->for_each(blocks.table, [&](BlockIndex) { ++counted; });
  EXPECT_EQ(counted, held.size());
}

TEST(LiveMap, FindsWhatIsInItOverRandomCommands) {
  std::mt19937_64 random{11};
  Blocks blocks;
  LiveMap map;
  std::unordered_map<std::uint64_t, BlockIndex> model;
  std::vector<std::uint64_t> addresses;
  for (int step = 0; step < 200'000; ++step) {
    // Dense addresses, as a segment's blocks have them, and some that only differ far up.
    const std::uint64_t address = 0x7f00'0000'0000 + random() % 40'000 * 512 + (random() % 4 << 44);
    if (random() % 2 == 0) {
      if (!model.contains(address)) {
        ASSERT_TRUE(map.reserve());
        const BlockIndex block = blocks.add(512, address);
        map.insert(address, block);
        model[address] = block;
      }
    } else {
      const auto known = model.find(address);
      const BlockIndex taken = map.take(blocks.table, address);
      ASSERT_EQ(taken, known == model.end() ? 0 : known->second);
      if (known != model.end()) {
        blocks.table.give(taken);
        model.erase(known);
      }
    }
    ASSERT_EQ(map.count(), model.size());
  }
  for (const auto& [address, block] : model) {
    ASSERT_EQ(map.find(blocks.table, address), block);
  }
}

TEST(AddressIndex, KnowsWhoHoldsAnAddressOverRandomCommands) {
  std::mt19937_64 random{13};
  SegmentTable segments;
  AddressIndex index;
  std::map<std::uint64_t, SegmentIndex> model;
  const auto holder = [&](std::uint64_t address) -> SegmentIndex {
    auto after = model.upper_bound(address);
    if (after == model.begin()) {
      return 0;
    }
    const SegmentIndex before = std::prev(after)->second;
    return address - segments[before].base < segments[before].size ? before : 0;
  };
  for (int step = 0; step < 50'000; ++step) {
    const std::uint64_t slot = random() % 500;
    const std::uint64_t base = 0x1000 + slot * 4096;
    const auto known = model.find(base);
    if (known == model.end()) {
      ASSERT_TRUE(segments.reserve(1));
      const SegmentIndex added = segments.take();
      segments[added] = {};
      segments[added].base = base;
      segments[added].size = 512 * (1 + random() % 8);
      index.insert(segments, added);
      model[base] = added;
    } else {
      index.remove(segments, known->second);
      segments.give(known->second);
      model.erase(known);
    }
    const std::uint64_t address = random() % (500 * 4096);
    ASSERT_EQ(index.holder_of(segments, address), holder(address));
    const std::uint64_t size = 1 + random() % 10'000;
    const auto next = model.lower_bound(address);
    const bool any = holder(address) != 0 || (next != model.end() && next->first < address + size);
    const SegmentIndex found = index.overlapping(segments, address, size);
    ASSERT_EQ(found != 0, any);
    if (found != 0) {
      ASSERT_LT(segments[found].base, address + size);
      ASSERT_GT(segments[found].base + segments[found].size, address);
    }
  }
}

}  // namespace
}  // namespace tidemark::test
