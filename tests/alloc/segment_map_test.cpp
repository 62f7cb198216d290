// Which cache may own an address, asked while segments come and go.
#include "shim/alloc/segment_map.hpp"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "tests/alloc/cache_rig.hpp"

namespace tidemark::test {
namespace {

// Two devices whose drivers give addresses from the same granule of 2 MiB on.
class TwoDevices {
 public:
  TwoDevices()
      : first_device(1_GiB, 0x7000'0000'0000),
        second_device(1_GiB, 0x7000'0000'8000),
        first(first_device, nullptr, map, counting(), 1_GiB, TestClock::clock()),
        second(second_device, nullptr, map, counting(), 1_GiB, TestClock::clock()) {}

  static Policy counting() {
    Policy policy;
    policy.mode = DeviceMode::Count;
    return policy;
  }

  alloc::SegmentMap map;
  FakeUpstream first_device;
  FakeUpstream second_device;
  alloc::DeviceCache first;
  alloc::DeviceCache second;
};

TEST(SegmentMap, TellsDevicesApartThatShareAGranule) {
  const auto devices = std::make_unique<TwoDevices>();
  const DevicePtr a = devices->first.allocate(kContext, 1000_B).value();
  const DevicePtr b = devices->second.allocate(kContext, 1000_B).value();
  ASSERT_EQ(a.address() >> 21, b.address() >> 21);

  EXPECT_EQ(devices->map.owner_of(a), &devices->first);
  EXPECT_EQ(devices->map.owner_of(b), &devices->second);
  EXPECT_EQ(devices->map.owner_of(DevicePtr{a.address() + 0x4000}), nullptr);
  EXPECT_TRUE(devices->map.owner_of(a)->release(a).ok());
  EXPECT_TRUE(devices->map.owner_of(b)->release(b).ok());
}

TEST(SegmentMap, CoversEveryGranuleOfALargeSegmentWhateverItsAlignment) {
  CacheRig rig{Policy::cuda_default(), 64_GiB};
  ASSERT_TRUE(rig.device.allocate(kContext, 512_B).ok());  // so that the next is not aligned to anything larger
  const DevicePtr block = rig.allocated(3_GiB);
  ASSERT_NE(block.address() % (2_MiB).count(), 0U);

  for (std::uint64_t offset = 0; offset < (3_GiB).count(); offset += (1_MiB).count()) {
    ASSERT_EQ(rig.map->owner_of(DevicePtr{block.address() + offset}), &rig.cache());
  }
  EXPECT_EQ(rig.map->owner_of(DevicePtr{block.address() + (3_GiB).count() - 1}), &rig.cache());
  rig.freed(block);
}

TEST(SegmentMap, ForgetsWhatIsGivenBack) {
  CacheRig rig;
  const DevicePtr block = rig.allocated(64_MiB);
  rig.freed(block);
  ASSERT_TRUE(rig.cache().empty_cache().ok());

  EXPECT_EQ(rig.map->owner_of(block), nullptr);
}

TEST(SegmentMap, TakesAnyAddress) {
  alloc::SegmentMap map;
  CacheRig rig;
  for (const std::uint64_t address : {std::uint64_t{0x200000}, std::uint64_t{1} << 47, ~std::uint64_t{0} - (4 << 20)}) {
    EXPECT_EQ(map.owner_of(DevicePtr{address}), nullptr);
    const unsigned bit = map.enroll(rig.cache()).value();
    EXPECT_TRUE(map.add(bit, DevicePtr{address}, 2_MiB));
    EXPECT_EQ(map.owner_of(DevicePtr{address + 1}), &rig.cache());
    map.remove(bit, DevicePtr{address}, 2_MiB);
    map.resign(bit);
  }
}

TEST(SegmentMap, HasRoomForSixtyFourDevicesAndTheNextForwardsEverything) {
  alloc::SegmentMap map;
  FakeUpstream device;
  std::vector<std::unique_ptr<alloc::DeviceCache>> caches;
  for (unsigned i = 0; i < alloc::SegmentMap::kMaxCaches; ++i) {
    caches.push_back(std::make_unique<alloc::DeviceCache>(device, nullptr, map, Policy::cuda_default()));
  }
  alloc::DeviceCache one_too_many(device, nullptr, map, Policy::cuda_default());

  EXPECT_TRUE(caches.back()->allocate(kContext, 1_KiB).ok());
  EXPECT_EQ(one_too_many.allocate(kContext, 1_KiB).error().code, ErrorCode::NotOurs);
  caches.pop_back();
  EXPECT_TRUE(map.enroll(one_too_many).has_value()) << "a place becomes free with its device";
}

}  // namespace
}  // namespace tidemark::test
