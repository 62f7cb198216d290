// cuGetProcAddress of the simulated driver, over every function that the toolkit's headers name. Nothing here calls
// cuInit.
#include <cuda.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace {

struct Entry {
  std::string base;
  int version;
  bool per_thread;
  std::string symbol;
};

// The same list that the driver is made of; the rules are applied to it anew.
const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
#define X(base, version, per_thread, symbol) {#base, version, per_thread, #symbol},
#include <driver_table.inc>
#undef X
  };
  return all;
}

void* exported(const std::string& symbol) { return dlsym(RTLD_DEFAULT, symbol.c_str()); }

void* ask(const std::string& name, int version, cuuint64_t flags,
          CUdriverProcAddressQueryResult expected = CU_GET_PROC_ADDRESS_SUCCESS) {
  void* found = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  EXPECT_EQ(cuGetProcAddress(name.c_str(), &found, version, flags, &status), CUDA_SUCCESS) << name;
  EXPECT_EQ(status, expected) << name << '@' << version;
  return found;
}

TEST(CudaResolver, FindsEachAbiByItsVersion) {
  ASSERT_GT(entries().size(), 500u);
  for (const Entry& entry : entries()) {
    const cuuint64_t flags = entry.per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;
    ASSERT_NE(exported(entry.symbol), nullptr) << entry.symbol;
    EXPECT_EQ(ask(entry.base, entry.version, flags), exported(entry.symbol)) << entry.symbol;
  }
}

TEST(CudaResolver, PrefersTheNewestThatIsNotTooNew) {
  EXPECT_EQ(ask("cuMemAlloc", 2000, 0), exported("cuMemAlloc"));
  EXPECT_EQ(ask("cuMemAlloc", 3019, 0), exported("cuMemAlloc"));
  EXPECT_EQ(ask("cuMemAlloc", 3020, 0), exported("cuMemAlloc_v2"));
  EXPECT_EQ(ask("cuMemAlloc", CUDA_VERSION, 0), exported("cuMemAlloc_v2"));
  EXPECT_EQ(ask("cuDevicePrimaryCtxReset", 7000, 0), exported("cuDevicePrimaryCtxReset"));
  EXPECT_EQ(ask("cuDevicePrimaryCtxReset", 11000, 0), exported("cuDevicePrimaryCtxReset_v2"));
  EXPECT_EQ(ask("cuGetProcAddress", 11030, 0), exported("cuGetProcAddress"));
  EXPECT_EQ(ask("cuGetProcAddress", 12000, 0), exported("cuGetProcAddress_v2"));
}

TEST(CudaResolver, PrefersThePerThreadFormWhereItIsAskedForAndThereIsOne) {
  constexpr cuuint64_t kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

  EXPECT_EQ(ask("cuMemcpyHtoD", 12000, kPerThread), exported("cuMemcpyHtoD_v2_ptds"));
  EXPECT_EQ(ask("cuMemcpyHtoD", 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM), exported("cuMemcpyHtoD_v2"));
  EXPECT_EQ(ask("cuMemcpyHtoD", 3020, kPerThread), exported("cuMemcpyHtoD_v2")) << "older than the per-thread form";
  EXPECT_EQ(ask("cuStreamSynchronize", 7000, kPerThread), exported("cuStreamSynchronize_ptsz"));
  EXPECT_EQ(ask("cuMemAlloc", 12000, kPerThread), exported("cuMemAlloc_v2"));
}

TEST(CudaResolver, SaysWhyThereIsNothing) {
  EXPECT_EQ(ask("cuNoSuchThing", CUDA_VERSION, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND), nullptr);
  EXPECT_EQ(ask("", 0, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND), nullptr);
  EXPECT_EQ(ask("cuMemAlloc_v2", CUDA_VERSION, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND), nullptr) << "no base name";
  EXPECT_EQ(ask("cuMemAllocAsync", 11010, 0, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT), nullptr);
}

TEST(CudaResolver, RefusesWhatItCannotKnow) {
  void* found = this;

  EXPECT_EQ(cuGetProcAddress("cuInit", &found, CUDA_VERSION + 1, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress("cuInit", &found, 12000, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress("cuInit", &found, 12000, 3, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress(nullptr, &found, 12000, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGetProcAddress("cuInit", nullptr, 12000, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(found, this);
  EXPECT_EQ(cuGetProcAddress("cuInit", &found, 12000, 0, nullptr), CUDA_SUCCESS) << "without a status";
}

TEST(CudaResolver, HasAFirstAbiThatFailsWhereItHasNoStatusToWrite) {
  auto* first = reinterpret_cast<CUresult (*)(const char*, void**, int, cuuint64_t)>(exported("cuGetProcAddress"));
  void* found = nullptr;

  EXPECT_EQ(first("cuMemAlloc", &found, 3020, 0), CUDA_SUCCESS);
  EXPECT_EQ(found, exported("cuMemAlloc_v2"));
  EXPECT_EQ(first("cuNoSuchThing", &found, 3020, 0), CUDA_ERROR_NOT_FOUND);
}

TEST(CudaResolver, NamesErrors) {
  const char* text = nullptr;

  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(1000), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST(CudaResolver, WorksBeforeInitWhereOthersDoNot) {
  CUdeviceptr block = 0;
  int version = 0;

  EXPECT_EQ(cuMemAlloc(&block, 512), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuDeviceGetCount(&version), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(cuDriverGetVersion(&version), CUDA_SUCCESS);
  EXPECT_EQ(version, CUDA_VERSION);
}

}  // namespace
