// One device's memory: what is charged, given out, refused and kept.
#include "simulator/core/device_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace sim {
namespace {

constexpr std::uint64_t kKiB = std::uint64_t{1} << 10;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr ContextId kContext{1};
constexpr ContextId kOther{2};

Address take(DeviceMemory& memory, std::uint64_t size, ContextId owner = kContext) {
  Address address = 0;
  EXPECT_EQ(memory.allocate(owner, size, address), Status::Ok);
  return address;
}

std::vector<std::byte> read(const DeviceMemory& memory, Address from, std::size_t size) {
  std::vector<std::byte> bytes(size);
  EXPECT_EQ(memory.read(from, bytes), Status::Ok);
  return bytes;
}

void fill(DeviceMemory& memory, Address to, unsigned char value, std::uint64_t size) {
  const std::array pattern{std::byte{value}};
  EXPECT_EQ(memory.fill(to, pattern, size), Status::Ok);
}

std::uint64_t resident_bytes() {
  std::ifstream statm{"/proc/self/statm"};
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(DeviceMemory, ChargesEachAllocationRoundedUpTo512Bytes) {
  DeviceMemory memory{kMiB, nullptr, 0};

  const Address one = take(memory, 1);
  take(memory, 512);
  take(memory, 513);
  EXPECT_EQ(memory.used(), 512 + 512 + 1024);
  EXPECT_EQ(memory.info().free, kMiB - 2048);

  EXPECT_EQ(memory.release(one), Status::Ok);
  EXPECT_EQ(memory.used(), 1536);
  EXPECT_EQ(memory.info().total, kMiB);
}

TEST(DeviceMemory, IsFullExactlyAtItsCapacityHoweverFragmented) {
  DeviceMemory memory{16 * kMiB, nullptr, 0};
  std::vector<Address> blocks;
  for (int i = 0; i < 32; ++i) blocks.push_back(take(memory, 512 * kKiB));
  Address none = 0;
  EXPECT_EQ(memory.allocate(kContext, 1, none), Status::OutOfMemory);
  for (std::size_t i = 0; i < blocks.size(); i += 2) EXPECT_EQ(memory.release(blocks[i]), Status::Ok);

  take(memory, 8 * kMiB);

  EXPECT_EQ(memory.info().free, 0);
  EXPECT_EQ(memory.allocate(kContext, 1, none), Status::OutOfMemory);
  EXPECT_EQ(none, 0);
}

TEST(DeviceMemory, RefusesSizesThatOverflow) {
  DeviceMemory memory{kGiB, nullptr, 0};
  Address none = 0;

  for (const std::uint64_t size : {~std::uint64_t{0}, ~std::uint64_t{0} - 511, kGiB + 1}) {
    EXPECT_EQ(memory.allocate(kContext, size, none), Status::OutOfMemory);
  }
  EXPECT_EQ(memory.used(), 0);
}

TEST(DeviceMemory, AlignsTo512BytesAndFromOneMebibyteToTwo) {
  DeviceMemory memory{kGiB, nullptr, 0};

  for (const std::uint64_t size : {std::uint64_t{1}, std::uint64_t{700}, kMiB - 1}) {
    EXPECT_EQ(take(memory, size) % 512, 0) << size;
  }
  for (const std::uint64_t size : {kMiB, kMiB + 1, 3 * kMiB, 100 * kMiB}) {
    EXPECT_EQ(take(memory, size) % (2 * kMiB), 0) << size;
  }
}

TEST(DeviceMemory, GivesOutAddressesOfItsOwn) {
  DeviceMemory first{kGiB, nullptr, 0};
  DeviceMemory second{kGiB, nullptr, 1};

  const Address here = take(first, 4096);
  const Address there = take(second, 4096);

  EXPECT_NE(here, there);
  EXPECT_TRUE(first.contains(here));
  EXPECT_FALSE(second.contains(here));
  EXPECT_FALSE(first.contains(reinterpret_cast<Address>(&first)));
}

TEST(DeviceMemory, CannotBeReadByTheHost) {
  DeviceMemory memory{kGiB, nullptr, 0};
  const Address block = take(memory, 4096);
  fill(memory, block, 1, 4096);
  std::array<char, 16> here{};

  // Reads like a load would, but answers instead of raising a signal.
  const iovec local{here.data(), here.size()};
  const iovec remote{reinterpret_cast<void*>(block), here.size()};

  EXPECT_EQ(process_vm_readv(getpid(), &local, 1, &remote, 1, 0), -1);
  EXPECT_EQ(errno, EFAULT);
}

TEST(DeviceMemory, RefusesInteriorDoubleAndForeignFrees) {
  DeviceMemory memory{kGiB, nullptr, 0};
  const Address block = take(memory, 3 * kMiB);
  int host = 0;

  EXPECT_EQ(memory.release(block + 512), Status::InvalidValue);
  EXPECT_EQ(memory.release(block + 2 * kMiB), Status::InvalidValue);
  EXPECT_EQ(memory.release(reinterpret_cast<Address>(&host)), Status::InvalidValue);
  EXPECT_EQ(memory.release(0), Status::InvalidValue);
  EXPECT_EQ(memory.release(block), Status::Ok);
  EXPECT_EQ(memory.release(block), Status::InvalidValue);
  EXPECT_EQ(memory.used(), 0);
}

TEST(DeviceMemory, FindsTheAllocationAroundAnAddress) {
  DeviceMemory memory{kGiB, nullptr, 0};
  const Address block = take(memory, 1000);

  ASSERT_TRUE(memory.find(block + 999));
  EXPECT_EQ(memory.find(block + 999)->base, block);
  EXPECT_EQ(memory.find(block + 999)->size, 1000);
  EXPECT_FALSE(memory.find(block + 1000));
  EXPECT_FALSE(memory.find(block - 1));
}

TEST(DeviceMemory, LetsNobodyPassTheBoundsOfAnAllocation) {
  DeviceMemory memory{kGiB, nullptr, 0};
  const Address block = take(memory, 1000);
  take(memory, 1000);
  std::vector<std::byte> bytes(1001);

  EXPECT_EQ(memory.write(block, bytes), Status::InvalidValue);
  EXPECT_EQ(memory.read(block + 1, std::span{bytes}.first(1000)), Status::InvalidValue);
  EXPECT_EQ(memory.copy(block + 500, block, 501), Status::InvalidValue);
  EXPECT_EQ(memory.check(block + 999, 1), Status::Ok);
  EXPECT_EQ(memory.check(block, ~std::uint64_t{0}), Status::InvalidValue);
}

TEST(DeviceMemory, KeepsWhatIsWritten) {
  DeviceMemory memory{kGiB, nullptr, 0};
  const Address block = take(memory, 16);
  const std::array<std::byte, 4> word{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};

  EXPECT_EQ(memory.fill(block, word, 16), Status::Ok);
  EXPECT_EQ(memory.copy(block + 1, block, 8), Status::Ok);

  const auto bytes = read(memory, block, 16);
  const std::array<int, 16> expected{1, 1, 2, 3, 4, 1, 2, 3, 4, 2, 3, 4, 1, 2, 3, 4};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(std::to_integer<int>(bytes[i]), expected[i]) << i;
}

TEST(DeviceMemory, CopiesFromOneDeviceToAnother) {
  DeviceMemory first{kGiB, nullptr, 0};
  DeviceMemory second{kGiB, nullptr, 1};
  const std::uint64_t size = 3 * kMiB + 17;
  const Address from = take(first, size);
  const Address to = take(second, size);
  fill(first, from, 9, size);

  EXPECT_EQ(DeviceMemory::copy(second, to, first, from, size), Status::Ok);

  EXPECT_EQ(read(second, to, size), std::vector<std::byte>(size, std::byte{9}));
}

TEST(DeviceMemory, PoisonsWhatIsFreed) {
  DeviceMemory memory{kGiB, nullptr, 0};
  const Address block = take(memory, 8192);
  fill(memory, block, 1, 8192);
  EXPECT_EQ(memory.release(block), Status::Ok);

  const Address again = take(memory, 8192);

  ASSERT_EQ(again, block);
  EXPECT_EQ(read(memory, again, 8192), std::vector<std::byte>(8192, kPoison));
}

TEST(DeviceMemory, PoisonsTheEndsOfALargeBlockAndForgetsTheRest) {
  DeviceMemory memory{kGiB, nullptr, 0};
  const Address block = take(memory, 4 * kMiB);
  fill(memory, block, 1, 4 * kMiB);
  EXPECT_EQ(memory.release(block), Status::Ok);

  const Address again = take(memory, 4 * kMiB);

  ASSERT_EQ(again, block);
  EXPECT_EQ(read(memory, again, 64 * kKiB), std::vector<std::byte>(64 * kKiB, kPoison));
  EXPECT_EQ(read(memory, again + 4 * kMiB - 64 * kKiB, 64 * kKiB), std::vector<std::byte>(64 * kKiB, kPoison));
  EXPECT_EQ(read(memory, again + 2 * kMiB, 4096), std::vector<std::byte>(4096, std::byte{0}));
}

TEST(DeviceMemory, PoisonsEveryByteIfWorkStillUsesIt) {
  DeviceMemory memory{kGiB, nullptr, 0};
  const Address block = take(memory, 4 * kMiB);

  EXPECT_EQ(memory.release(block, true), Status::Ok);

  ASSERT_EQ(take(memory, 4 * kMiB), block);
  EXPECT_EQ(read(memory, block, 4 * kMiB), std::vector<std::byte>(4 * kMiB, kPoison));
}

TEST(DeviceMemory, FreesAllOfOneContext) {
  DeviceMemory memory{kGiB, nullptr, 0};
  take(memory, 1000);
  const Address stays = take(memory, 1000, kOther);
  take(memory, 5 * kMiB);

  EXPECT_EQ(memory.release_all_of(kContext), 2);

  EXPECT_EQ(memory.used(), 1024);
  EXPECT_TRUE(memory.find(stays));
}

TEST(DeviceMemory, TellsAnAllocationFromALaterOneAtTheSameAddress) {
  DeviceMemory memory{kGiB, nullptr, 0};
  const Address block = take(memory, 4096);
  const auto first = memory.find(block);
  memory.release(block);

  ASSERT_EQ(take(memory, 4096), block);

  EXPECT_NE(memory.find(block)->serial, first->serial);
}

TEST(DeviceMemory, CostsOnlyWhatIsTouched) {
  DeviceMemory memory{64 * kGiB, nullptr, 0};
  const std::uint64_t before = resident_bytes();

  const Address huge = take(memory, 40 * kGiB);
  for (int i = 0; i < 24; ++i) take(memory, kGiB);
  fill(memory, huge + 20 * kGiB, 1, kMiB);

  EXPECT_EQ(memory.info().free, 0);
  // One mebibyte touched; the sanitizers' own memory is why this is not tighter.
  EXPECT_LT(resident_bytes() - before, 256 * kMiB);
}

TEST(DeviceMemory, GivesWrittenMemoryBackToTheHost) {
  DeviceMemory memory{kGiB, nullptr, 0};
  const Address block = take(memory, 128 * kMiB);
  fill(memory, block, 1, 128 * kMiB);
  const std::uint64_t before = resident_bytes();

  EXPECT_EQ(memory.release(block), Status::Ok);

  EXPECT_LT(resident_bytes() + 100 * kMiB, before);
}

}  // namespace
}  // namespace sim
