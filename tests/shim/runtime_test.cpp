// The runtime on a driver of the test's own.
#include "shim/runtime/runtime.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>

#include "shim/hook/hooked_symbol.hpp"

// The names are the entry's; a program without it hooks none.
constinit const std::span<const tidemark::hook::HookedSymbol> tidemark::hook::hooked_symbols{};

namespace tidemark::runtime {
namespace {

// Gives addresses that nobody follows, and can do nothing beyond what it must.
class PlainUpstream final : public alloc::Upstream {
 public:
  explicit PlainUpstream(std::uint64_t base) : next_(base) {}

  Result<alloc::DevicePtr> allocate(alloc::ContextId, Bytes size) noexcept override {
    const alloc::DevicePtr given{next_};
    next_ += size.count();
    return given;
  }
  Status release(alloc::ContextId, alloc::DevicePtr) noexcept override { return {}; }
  Status wait_for_all_work(alloc::ContextId) noexcept override { return {}; }
  Result<alloc::MemoryInfo> memory_info(alloc::ContextId) noexcept override { return alloc::MemoryInfo{}; }

 private:
  std::uint64_t next_;
};

TEST(Runtime, SaysOnceThatADriverCannotFillMemory) {
  ASSERT_EQ(setenv("TIDEMARK_SHM", "off", 1), 0);
  ASSERT_EQ(setenv("TIDEMARK_FILL", "zero", 1), 0);
  const auto runtime = std::make_unique<Runtime>();
  testing::internal::CaptureStderr();

  for (std::uint16_t ordinal = 0; ordinal < 2; ++ordinal) {
    ServedDevice* device = runtime->device(
        {.layer = Layer::Mtia, .ordinal = ordinal},
        [&](ServedDevice::UpstreamPlace& place) -> alloc::Upstream& {
          return place.emplace<PlainUpstream>(0x7000'0000'0000U + (std::uint64_t{ordinal} << 40));
        },
        [] { return backend::DeviceIdentity{}; });
    ASSERT_NE(device, nullptr);
    EXPECT_TRUE(device->cache().allocate(device->generation(), 1_MiB).ok());
    runtime->after_success(*device);
  }

  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tidemark: TIDEMARK_FILL has no effect where a driver can't fill memory; none is used there\n");
  unsetenv("TIDEMARK_SHM");
  unsetenv("TIDEMARK_FILL");
}

}  // namespace
}  // namespace tidemark::runtime
