// The simulated MTIA driver, called as a program calls it. The clock stands still but for waits
// (MTIA_SIM_CLOCK=manual).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mtia.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kCapacity = std::size_t{8} << 30;

class Mtia : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(mtiaSetDevice(0), MTIA_SUCCESS); }
  void TearDown() override {
    for (const int device : {1, 0}) {
      EXPECT_EQ(mtiaSetDevice(device), MTIA_SUCCESS);
      EXPECT_EQ(mtiaDeviceReset(), MTIA_SUCCESS);
    }
  }

  static void* take(std::size_t size) {
    void* block = nullptr;
    EXPECT_EQ(mtiaMalloc(&block, size), MTIA_SUCCESS);
    return block;
  }

  static mtiaStream_t stream() {
    mtiaStream_t made = nullptr;
    EXPECT_EQ(mtiaStreamCreate(&made), MTIA_SUCCESS);
    return made;
  }

  static mtiaEvent_t event() {
    mtiaEvent_t made = nullptr;
    EXPECT_EQ(mtiaEventCreate(&made), MTIA_SUCCESS);
    return made;
  }

  static std::size_t free_bytes() {
    std::size_t free = 0;
    EXPECT_EQ(mtiaMemGetInfo(&free, nullptr), MTIA_SUCCESS);
    return free;
  }

  static int byte_of(void* block) {
    unsigned char byte = 0;
    EXPECT_EQ(mtiaMemcpy(&byte, block, 1, mtiaMemcpyDeviceToHost), MTIA_SUCCESS);
    return byte;
  }
};

TEST_F(Mtia, ChargesWhatIsAllocatedRoundedUpTo512Bytes) {
  void* small = take(1000);
  void* large = take(3 * kMiB + 1);
  EXPECT_EQ(free_bytes(), kCapacity - 1024 - 3 * kMiB - 512);

  EXPECT_EQ(mtiaFree(small), MTIA_SUCCESS);
  EXPECT_EQ(mtiaFree(large), MTIA_SUCCESS);
  EXPECT_EQ(free_bytes(), kCapacity);
}

TEST_F(Mtia, FindsTheAllocationAroundAPointer) {
  void* block = take(1000);
  void* base = nullptr;
  std::size_t size = 0;

  EXPECT_EQ(mtiaMemGetAddressRange(&base, &size, static_cast<char*>(block) + 999), MTIA_SUCCESS);
  EXPECT_EQ(base, block);
  EXPECT_EQ(size, 1000);
  EXPECT_EQ(mtiaMemGetAddressRange(nullptr, nullptr, block), MTIA_SUCCESS);
  EXPECT_EQ(mtiaMemGetAddressRange(&base, &size, static_cast<char*>(block) + 1000), MTIA_ERROR_INVALID_VALUE);
  EXPECT_EQ(mtiaMemGetAddressRange(&base, &size, &size), MTIA_ERROR_INVALID_VALUE);
}

TEST_F(Mtia, FreeWaitsForTheWorkOfTheOwnersDevice) {
  void* block = take(4096);
  void* seen = take(4096);
  mtiaStream_t late = stream();
  mtiaMemsetAsync(block, 1, 4096, late);
  mtiaMemcpyAsync(seen, block, 4096, mtiaMemcpyDeviceToDevice, late);
  EXPECT_EQ(mtiaStreamQuery(late), MTIA_ERROR_NOT_READY);

  mtiaSetDevice(1);
  EXPECT_EQ(mtiaFree(block), MTIA_SUCCESS);

  EXPECT_EQ(mtiaStreamQuery(late), MTIA_SUCCESS);
  EXPECT_EQ(byte_of(seen), 1);
}

TEST_F(Mtia, FreeDoesNotWaitForAnotherDevice) {
  void* block = take(4096);
  mtiaSetDevice(1);
  mtiaStream_t busy = stream();
  mtiaMemsetAsync(take(4096), 1, 4096, busy);

  EXPECT_EQ(mtiaFree(block), MTIA_SUCCESS);

  EXPECT_EQ(mtiaStreamQuery(busy), MTIA_ERROR_NOT_READY);
}

TEST_F(Mtia, RefusesAFreeBeforeItWaitsForAnything) {
  void* block = take(4096);
  mtiaStream_t busy = stream();
  mtiaMemsetAsync(block, 1, 4096, busy);

  EXPECT_EQ(mtiaFree(static_cast<char*>(block) + 512), MTIA_ERROR_INVALID_VALUE);

  EXPECT_EQ(mtiaStreamQuery(busy), MTIA_ERROR_NOT_READY);
}

TEST_F(Mtia, MemsetDoesNotWaitAndMemcpyDoes) {
  void* block = take(4096);
  mtiaEvent_t done = event();

  EXPECT_EQ(mtiaMemset(block, 0x1FF, 4096), MTIA_SUCCESS);
  EXPECT_EQ(mtiaEventRecord(done, nullptr), MTIA_SUCCESS);
  EXPECT_EQ(mtiaEventQuery(done), MTIA_ERROR_NOT_READY);

  EXPECT_EQ(byte_of(block), 0xFF);
  EXPECT_EQ(mtiaEventQuery(done), MTIA_SUCCESS);
}

TEST_F(Mtia, ACopyToTheHostIsThereWhenTheCallReturns) {
  void* block = take(4096);
  mtiaStream_t late = stream();
  unsigned char byte = 0;

  mtiaMemsetAsync(block, 5, 4096, late);
  EXPECT_EQ(mtiaMemcpyAsync(&byte, block, 1, mtiaMemcpyDeviceToHost, late), MTIA_SUCCESS);

  EXPECT_EQ(byte, 5);
}

TEST_F(Mtia, AHostSourceMayChangeAfterTheCall) {
  void* block = take(4096);
  mtiaStream_t late = stream();
  unsigned char byte = 5;

  EXPECT_EQ(mtiaMemcpyAsync(block, &byte, 1, mtiaMemcpyHostToDevice, late), MTIA_SUCCESS);
  EXPECT_EQ(mtiaStreamQuery(late), MTIA_ERROR_NOT_READY);
  byte = 6;

  EXPECT_EQ(byte_of(block), 5);
}

TEST_F(Mtia, TheKindOfACopyMustAgreeWithItsPointers) {
  void* block = take(4096);
  std::array<char, 16> here{};
  std::array<char, 16> there{};
  const auto copy = [](void* to, const void* from, int kind) {
    return mtiaMemcpy(to, from, 16, static_cast<mtiaMemcpyKind>(kind));
  };

  EXPECT_EQ(copy(block, here.data(), mtiaMemcpyHostToDevice), MTIA_SUCCESS);
  EXPECT_EQ(copy(block, here.data(), mtiaMemcpyDefault), MTIA_SUCCESS);
  EXPECT_EQ(copy(there.data(), here.data(), mtiaMemcpyHostToHost), MTIA_SUCCESS);
  EXPECT_EQ(copy(block, here.data(), mtiaMemcpyDeviceToDevice), MTIA_ERROR_INVALID_VALUE);
  EXPECT_EQ(copy(block, here.data(), mtiaMemcpyHostToHost), MTIA_ERROR_INVALID_VALUE);
  EXPECT_EQ(copy(here.data(), there.data(), mtiaMemcpyHostToDevice), MTIA_ERROR_INVALID_VALUE);
  EXPECT_EQ(copy(block, here.data(), 5), MTIA_ERROR_INVALID_VALUE);
}

TEST_F(Mtia, ACopyBetweenDevicesComesAfterTheWorkOfBoth) {
  void* from = take(4096);
  mtiaStream_t late = stream();
  mtiaSetDevice(1);
  void* to = take(4096);
  mtiaStream_t late_there = stream();

  mtiaMemsetAsync(from, 1, 4096, late);
  mtiaMemsetAsync(to, 2, 4096, late_there);
  EXPECT_EQ(mtiaMemcpy(to, from, 4096, mtiaMemcpyDeviceToDevice), MTIA_SUCCESS);
  EXPECT_EQ(mtiaDeviceSynchronize(), MTIA_SUCCESS);

  EXPECT_EQ(byte_of(to), 1);
}

TEST_F(Mtia, StreamsAndEventsBelongToTheDeviceTheyWereMadeOn) {
  mtiaEvent_t here = event();
  mtiaSetDevice(1);
  mtiaStream_t there = stream();

  EXPECT_EQ(mtiaEventRecord(here, there), MTIA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(mtiaEventRecord(here, nullptr), MTIA_ERROR_INVALID_HANDLE);
  mtiaSetDevice(0);
  EXPECT_EQ(mtiaEventRecord(here, nullptr), MTIA_SUCCESS);
  EXPECT_EQ(mtiaStreamDestroy(nullptr), MTIA_ERROR_INVALID_HANDLE);
}

TEST_F(Mtia, EachThreadHasItsOwnCurrentDevice) {
  mtiaSetDevice(1);
  int device = -1;

  std::thread{[&device] { mtiaGetDevice(&device); }}.join();

  EXPECT_EQ(device, 0);
  EXPECT_EQ(mtiaGetDevice(&device), MTIA_SUCCESS);
  EXPECT_EQ(device, 1);
}

TEST_F(Mtia, ResetFreesWhatBelongsToTheCurrentDeviceAlone) {
  void* gone = take(4096);
  mtiaStream_t stream_gone = stream();
  mtiaSetDevice(1);
  void* stays = take(4096);
  mtiaSetDevice(0);

  EXPECT_EQ(mtiaDeviceReset(), MTIA_SUCCESS);

  EXPECT_EQ(free_bytes(), kCapacity);
  EXPECT_EQ(mtiaFree(gone), MTIA_ERROR_INVALID_VALUE);
  EXPECT_EQ(mtiaStreamSynchronize(stream_gone), MTIA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(mtiaFree(stays), MTIA_SUCCESS);
}

TEST_F(Mtia, HostFunctionsMayNotCallTheDriver) {
  struct Answers {
    mtiaResult_t malloc = MTIA_SUCCESS;
    mtiaResult_t synchronize = MTIA_SUCCESS;
    mtiaResult_t version = MTIA_ERROR_UNKNOWN;
  } answers;
  const auto ask = [](void* data) {
    auto& here = *static_cast<Answers*>(data);
    void* block = nullptr;
    int version = 0;
    here.malloc = mtiaMalloc(&block, 512);
    here.synchronize = mtiaDeviceSynchronize();
    here.version = mtiaDriverGetVersion(&version);
  };

  EXPECT_EQ(mtiaLaunchHostFunc(nullptr, ask, &answers), MTIA_SUCCESS);
  EXPECT_EQ(mtiaDeviceSynchronize(), MTIA_SUCCESS);

  EXPECT_EQ(answers.malloc, MTIA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(answers.synchronize, MTIA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(answers.version, MTIA_SUCCESS);
}

TEST_F(Mtia, PropertiesSayThatItIsSimulated) {
  mtiaDeviceProp first;
  mtiaDeviceProp second;
  ASSERT_EQ(mtiaGetDeviceProperties(&first, 0), MTIA_SUCCESS);
  ASSERT_EQ(mtiaGetDeviceProperties(&second, 1), MTIA_SUCCESS);

  EXPECT_THAT(first.name, testing::HasSubstr("simulated"));
  EXPECT_EQ(first.totalGlobalMem, kCapacity);
  EXPECT_NE(std::memcmp(first.uuid, second.uuid, sizeof(first.uuid)), 0);
  EXPECT_EQ(mtiaGetDeviceProperties(&first, 2), MTIA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(mtiaGetDeviceProperties(nullptr, 0), MTIA_ERROR_INVALID_VALUE);
}

TEST_F(Mtia, FindsEveryFunctionOfItsHeaderByName) {
  for (const char* name : {"mtiaInit",
                           "mtiaDriverGetVersion",
                           "mtiaGetDeviceCount",
                           "mtiaSetDevice",
                           "mtiaGetDevice",
                           "mtiaGetDeviceProperties",
                           "mtiaMalloc",
                           "mtiaFree",
                           "mtiaMemGetInfo",
                           "mtiaMemGetAddressRange",
                           "mtiaMemcpy",
                           "mtiaMemcpyAsync",
                           "mtiaMemset",
                           "mtiaMemsetAsync",
                           "mtiaStreamCreate",
                           "mtiaStreamDestroy",
                           "mtiaStreamSynchronize",
                           "mtiaStreamQuery",
                           "mtiaEventCreate",
                           "mtiaEventRecord",
                           "mtiaEventQuery",
                           "mtiaEventSynchronize",
                           "mtiaEventDestroy",
                           "mtiaLaunchHostFunc",
                           "mtiaDeviceSynchronize",
                           "mtiaDeviceReset",
                           "mtiaGetProcAddress",
                           "mtiaGetErrorName",
                           "mtiaGetErrorString"}) {
    void* function = nullptr;
    EXPECT_EQ(mtiaGetProcAddress(name, MTIA_VERSION, &function), MTIA_SUCCESS) << name;
    EXPECT_NE(function, nullptr) << name;
  }
  void* function = nullptr;
  mtiaGetProcAddress("mtiaMalloc", 1000, &function);
  EXPECT_EQ(function, reinterpret_cast<void*>(&mtiaMalloc));
}

TEST_F(Mtia, KnowsTheVersionOfEachFunction) {
  void* function = this;

  EXPECT_EQ(mtiaGetProcAddress("mtiaLaunchHostFunc", 1000, &function), MTIA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(mtiaGetProcAddress("mtiaMalloc", MTIA_VERSION + 1, &function), MTIA_ERROR_INVALID_VALUE);
  EXPECT_EQ(mtiaGetProcAddress("mtiaMalloc_v2", MTIA_VERSION, &function), MTIA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(mtiaGetProcAddress(nullptr, MTIA_VERSION, &function), MTIA_ERROR_INVALID_VALUE);
  EXPECT_EQ(mtiaGetProcAddress("mtiaMalloc", MTIA_VERSION, nullptr), MTIA_ERROR_INVALID_VALUE);
}

TEST_F(Mtia, NamesItsErrors) {
  EXPECT_STREQ(mtiaGetErrorName(MTIA_ERROR_OUT_OF_MEMORY), "MTIA_ERROR_OUT_OF_MEMORY");
  EXPECT_STREQ(mtiaGetErrorString(MTIA_ERROR_OUT_OF_MEMORY), "out of memory");
  EXPECT_STREQ(mtiaGetErrorName(static_cast<mtiaResult_t>(77)), "unrecognized error code");
}

}  // namespace
