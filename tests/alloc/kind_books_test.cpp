#include "shim/alloc/kind_books.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

namespace tidemark::alloc {
namespace {

constexpr std::uint32_t kHost = KindBooks::kHostPlace;

struct Sink final : KindSink {
  void device_changed(std::uint32_t place, const DeviceKindCounts& counts, std::int64_t held_change) noexcept override {
    held[place] += held_change;
    devices[place] = counts;
  }
  void host_changed(const HostKindCounts& counts) noexcept override { host = counts; }

  std::array<std::int64_t, KindBooks::kMostPlaces> held{};
  std::array<DeviceKindCounts, KindBooks::kMostPlaces> devices{};
  HostKindCounts host;
};

class KindBooksTest : public testing::Test {
 protected:
  static KindRecord record(DeviceKind kind, std::uint64_t name, std::uint64_t size, std::uint64_t context = 0) {
    return {.name = name,
            .size = size,
            .context = context,
            .space = KindSpace::Device,
            .kind = static_cast<std::uint8_t>(kind)};
  }
  static KindRecord physical(std::uint64_t size, DeviceKind kind = DeviceKind::Vmm) {
    return {.size = size, .kind = static_cast<std::uint8_t>(kind)};
  }
  void free(KindSpace space, std::uint64_t name) {
    const auto taken = books_.take(space, name);
    ASSERT_TRUE(taken.has_value());
    books_.settle(*taken);
  }
  [[nodiscard]] KindCount of(DeviceKind kind) { return sink_.devices[0][kind]; }

  Sink sink_;
  KindBooks books_{sink_};
};

TEST_F(KindBooksTest, CountsWhatIsThereAndWhatWasThereAtMost) {
  EXPECT_TRUE(books_.is_empty());
  books_.add(record(DeviceKind::Async, 0x1000, 100));
  books_.add(record(DeviceKind::Async, 0x2000, 50));
  free(KindSpace::Device, 0x1000);
  EXPECT_EQ(of(DeviceKind::Async),
            (KindCount{.current_bytes = 50, .peak_bytes = 150, .current_count = 1, .total_count = 2}));
  EXPECT_EQ(sink_.held[0], 50);
  free(KindSpace::Device, 0x2000);
  EXPECT_TRUE(books_.is_empty());
  EXPECT_EQ(sink_.held[0], 0);
  EXPECT_EQ(books_.take(KindSpace::Device, 0x2000), std::nullopt);
}

TEST_F(KindBooksTest, HoldsOnlyWhatIsOnTheDevice) {
  books_.add(record(DeviceKind::Managed, 0x1000, 100));
  books_.add(record(DeviceKind::Imported, 0x2000, 200));
  EXPECT_EQ(sink_.held[0], 0);
  books_.add(record(DeviceKind::Array, 0x3000, 300));
  books_.add(record(DeviceKind::Pool, 0x4000, 400));
  EXPECT_EQ(sink_.held[0], 700);
}

TEST_F(KindBooksTest, TheSameNumberInTwoSpacesIsTwoThings) {
  books_.add(record(DeviceKind::Managed, 8, 100));
  KindRecord array = record(DeviceKind::Array, 8, 200);
  array.space = KindSpace::Array;
  books_.add(array);
  free(KindSpace::Device, 8);
  EXPECT_EQ(of(DeviceKind::Array).current_bytes, 200U);
  EXPECT_EQ(of(DeviceKind::Managed).current_bytes, 0U);
}

TEST_F(KindBooksTest, WhatTheDriverRefusesToFreeIsThereAsBefore) {
  books_.add(record(DeviceKind::Async, 0x1000, 100));
  const KindCount before = of(DeviceKind::Async);
  const auto taken = books_.take(KindSpace::Device, 0x1000);
  ASSERT_TRUE(taken);
  books_.put_back(*taken);
  EXPECT_EQ(of(DeviceKind::Async), before);
  EXPECT_EQ(sink_.held[0], 100);
  free(KindSpace::Device, 0x1000);
}

TEST_F(KindBooksTest, AnAddressHandedOutAgainReplacesWhatEndedUnseen) {
  books_.add(record(DeviceKind::Async, 0x1000, 100));
  books_.add(record(DeviceKind::Managed, 0x1000, 30));
  EXPECT_EQ(of(DeviceKind::Async).current_bytes, 0U);
  EXPECT_EQ(of(DeviceKind::Managed).current_bytes, 30U);
  EXPECT_EQ(sink_.held[0], 0);
}

TEST_F(KindBooksTest, AContextTakesWhatItOwnsWithItAndNothingElse) {
  books_.add(record(DeviceKind::Managed, 0x1000, 100, 7));
  books_.add(record(DeviceKind::Array, 0x2000, 200, 8));
  books_.add(record(DeviceKind::Async, 0x3000, 300));
  KindRecord pinned = record(DeviceKind::Managed, 0x4000, 400, 7);
  pinned.place = kHost;
  pinned.space = KindSpace::Host;
  pinned.kind = static_cast<std::uint8_t>(HostKind::Pinned);
  books_.add(pinned);
  EXPECT_EQ(sink_.host[HostKind::Pinned].current_bytes, 400U);

  books_.end_context(ContextId{7});
  EXPECT_EQ(of(DeviceKind::Managed).current_bytes, 0U);
  EXPECT_EQ(of(DeviceKind::Managed).peak_bytes, 100U);
  EXPECT_EQ(sink_.host[HostKind::Pinned].current_bytes, 0U);
  EXPECT_EQ(of(DeviceKind::Array).current_bytes, 200U);
  EXPECT_EQ(of(DeviceKind::Async).current_bytes, 300U);
  EXPECT_EQ(books_.take(KindSpace::Device, 0x1000), std::nullopt);
}

TEST_F(KindBooksTest, AnOpenHandleOpenedAgainIsOnePieceUntilItsLastClose) {
  books_.open(record(DeviceKind::Imported, 0x1000, 100));
  books_.open(record(DeviceKind::Imported, 0x1000, 100));
  EXPECT_EQ(of(DeviceKind::Imported).current_bytes, 100U);
  free(KindSpace::Device, 0x1000);
  EXPECT_EQ(of(DeviceKind::Imported).current_bytes, 100U);
  const auto refused = books_.take(KindSpace::Device, 0x1000);
  books_.put_back(*refused);
  free(KindSpace::Device, 0x1000);
  EXPECT_EQ(of(DeviceKind::Imported).current_bytes, 0U);
}

TEST_F(KindBooksTest, PhysicalMemoryLivesAsLongAsAHandleOrAMapping) {
  books_.create(1, physical(100));
  books_.map(0x1000, 100, 0, 1);
  books_.map(0x9000, 100, 0, 1);
  free(KindSpace::Handle, 1);
  EXPECT_EQ(of(DeviceKind::Vmm).current_bytes, 100U);
  books_.unmap(0x1000, 100);
  EXPECT_EQ(of(DeviceKind::Vmm).current_bytes, 100U);
  books_.retain(2, 0x9010);  // a handle again, by what is mapped there
  books_.unmap(0x9000, 100);
  EXPECT_EQ(of(DeviceKind::Vmm).current_bytes, 100U);
  free(KindSpace::Handle, 2);
  EXPECT_EQ(of(DeviceKind::Vmm),
            (KindCount{.current_bytes = 0, .peak_bytes = 100, .current_count = 0, .total_count = 1}));
  EXPECT_TRUE(books_.is_empty());
}

TEST_F(KindBooksTest, AHandleRetainedHasToBeReleasedTwice) {
  books_.create(1, physical(100));
  books_.map(0x1000, 100, 0, 1);
  books_.retain(1, 0x1000);
  books_.unmap(0x1000, 100);
  free(KindSpace::Handle, 1);
  EXPECT_EQ(of(DeviceKind::Vmm).current_bytes, 100U);
  free(KindSpace::Handle, 1);
  EXPECT_EQ(of(DeviceKind::Vmm).current_bytes, 0U);
}

TEST_F(KindBooksTest, AHandlesNumberMayComeAgainWhileItsMemoryIsStillMapped) {
  books_.create(1, physical(100));
  books_.map(0x1000, 100, 0, 1);
  free(KindSpace::Handle, 1);
  books_.create(1, physical(30));
  EXPECT_EQ(of(DeviceKind::Vmm).current_bytes, 130U);
  books_.unmap(0x1000, 100);
  EXPECT_EQ(of(DeviceKind::Vmm).current_bytes, 30U);
  free(KindSpace::Handle, 1);
  EXPECT_EQ(sink_.held[0], 0);
}

TEST_F(KindBooksTest, AReleaseThatFailsLeavesTheHandle) {
  books_.create(1, physical(100));
  const auto taken = books_.take(KindSpace::Handle, 1);
  books_.put_back(*taken);
  EXPECT_EQ(of(DeviceKind::Vmm),
            (KindCount{.current_bytes = 100, .peak_bytes = 100, .current_count = 1, .total_count = 1}));
  free(KindSpace::Handle, 1);
  EXPECT_EQ(of(DeviceKind::Vmm).current_bytes, 0U);
}

TEST_F(KindBooksTest, OneUnmapEndsAllMappingsInItsRange) {
  books_.create(1, physical(100));
  books_.create(2, physical(200));
  books_.map(0x1000, 0x100, 0, 1);
  books_.map(0x1100, 0x100, 0, 2);
  books_.map(0x1200, 0x100, 0, 2);
  free(KindSpace::Handle, 1);
  free(KindSpace::Handle, 2);
  books_.unmap(0x1000, 0x200);
  EXPECT_EQ(of(DeviceKind::Vmm).current_bytes, 200U);
  books_.unmap(0x1200, 0x100);
  EXPECT_EQ(of(DeviceKind::Vmm).current_bytes, 0U);
}

// Whoever imports a handle isn't told how large its memory is.
TEST_F(KindBooksTest, AnImportedHandleIsAsLargeAsWhatIsMappedOfIt) {
  books_.create(1, physical(0, DeviceKind::Imported));
  EXPECT_EQ(of(DeviceKind::Imported).current_bytes, 0U);
  books_.map(0x1000, 0x100, 0x100, 1);
  EXPECT_EQ(of(DeviceKind::Imported).current_bytes, 0x200U);
  books_.map(0x9000, 0x100, 0, 1);
  EXPECT_EQ(of(DeviceKind::Imported),
            (KindCount{.current_bytes = 0x200, .peak_bytes = 0x200, .current_count = 1, .total_count = 1}));
}

TEST_F(KindBooksTest, OwnMemoryImportedIsStillOwnAndReleasedOnceMore) {
  books_.create(1, physical(100));
  books_.import_handle(1, physical(0, DeviceKind::Imported));
  EXPECT_EQ(of(DeviceKind::Vmm).current_bytes, 100U);
  EXPECT_EQ(of(DeviceKind::Imported).total_count, 0U);
  free(KindSpace::Handle, 1);
  EXPECT_EQ(of(DeviceKind::Vmm).current_bytes, 100U);
  free(KindSpace::Handle, 1);
  EXPECT_EQ(of(DeviceKind::Vmm).current_bytes, 0U);
  books_.import_handle(2, physical(0, DeviceKind::Imported));
  books_.map(0x1000, 64, 0, 2);
  EXPECT_EQ(of(DeviceKind::Imported).current_bytes, 64U);
}

TEST_F(KindBooksTest, ACloseThatFailsWhenItWasTheLastAfterAllIsStillOpen) {
  books_.open(record(DeviceKind::Imported, 0x1000, 100));
  books_.open(record(DeviceKind::Imported, 0x1000, 100));
  const auto first = books_.take(KindSpace::Device, 0x1000);
  free(KindSpace::Device, 0x1000);
  books_.put_back(*first);
  EXPECT_EQ(of(DeviceKind::Imported).current_bytes, 100U);
  free(KindSpace::Device, 0x1000);
  EXPECT_EQ(of(DeviceKind::Imported).current_bytes, 0U);
}

TEST_F(KindBooksTest, AResetMakesPeaksTheCurrentOfThatPlaceAlone) {
  KindRecord pinned{.name = 1, .size = 70, .place = kHost, .space = KindSpace::Host};
  books_.add(pinned);
  books_.add(record(DeviceKind::Async, 0x1000, 100));
  free(KindSpace::Device, 0x1000);
  free(KindSpace::Host, 1);
  books_.reset_peaks(0);
  EXPECT_EQ(of(DeviceKind::Async).peak_bytes, 0U);
  EXPECT_EQ(sink_.host[HostKind::Pinned].peak_bytes, 70U);
  books_.reset_peaks(kHost);
  EXPECT_EQ(sink_.host[HostKind::Pinned].peak_bytes, 0U);
  EXPECT_EQ(sink_.held[0], 0);
}

// Against a plain map, through growth, gaps and numbers that collide.
TEST_F(KindBooksTest, ManyPiecesInAnyOrder) {
  std::mt19937_64 random{4711};
  std::map<std::uint64_t, std::uint64_t> model;
  std::uint64_t bytes = 0;
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t name = (random() % 4000) * 512;
    if (const auto known = model.find(name); known != model.end()) {
      bytes -= known->second;
      model.erase(known);
      free(KindSpace::Device, name);
    } else {
      const std::uint64_t size = random() % 10'000;
      model[name] = size;
      bytes += size;
      books_.add(record(DeviceKind::Async, name, size, random() % 3));
    }
    ASSERT_EQ(of(DeviceKind::Async).current_bytes, bytes);
    ASSERT_EQ(of(DeviceKind::Async).current_count, model.size());
  }
  EXPECT_EQ(sink_.held[0], static_cast<std::int64_t>(bytes));
}

TEST_F(KindBooksTest, ThreadsEndWhereTheyBegan) {
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 2000; ++i) {
        const std::uint64_t name = (t << 32) + i * 512;
        books_.add(record(DeviceKind::Pool, name, 1 + i));
        books_.create(name + 1, physical(10));
        books_.map(name, 512, 0, name + 1);
        free(KindSpace::Handle, name + 1);
        free(KindSpace::Device, name);
        books_.unmap(name, 512);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(books_.is_empty());
  EXPECT_EQ(sink_.held[0], 0);
  EXPECT_EQ(of(DeviceKind::Pool).total_count, 8000U);
}

}  // namespace
}  // namespace tidemark::alloc
