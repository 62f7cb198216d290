// The guest program in each of its builds, and a partner that talks with one.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/shim_world.hpp"

namespace tidemark::test {

struct GuestKind {
  std::string name;         // of the parameter in the test's name
  std::string program;      // its path
  std::string backend;      // "mtia" or "cuda"
  std::string memory_knob;  // of the simulator: bytes of each device

  [[nodiscard]] std::string device(int index = 0) const { return backend + ":" + std::to_string(index); }
};

// Those that were built: MTIA, and with a CUDA toolkit the runtime's and the driver's.
std::vector<GuestKind> guest_kinds();
inline void PrintTo(const GuestKind& kind, std::ostream* to) { *to << kind.name; }
inline std::string name_of(const testing::TestParamInfo<GuestKind>& info) { return info.param.name; }

// A running guest. What it answers is compared by the tests; what must work here fails the test if it does not.
class Guest : public Conversation {
 public:
  // Waits for its main: before that /proc shows the test's own environment under its pid, and no library yet.
  explicit Guest(const Launch& launch);

  // The slot of the new block.
  int alloc(std::uint64_t size);
  void free(int slot);
  // An answer that is one number.
  int code(const std::string& command);
};

// A test of every kind of guest, in a world of its own.
class GuestTest : public testing::TestWithParam<GuestKind> {
 protected:
  [[nodiscard]] Launch native() const { return ShimWorld::natively({GetParam().program}); }
  [[nodiscard]] Launch shimmed() const { return world_.under_shim({GetParam().program}); }
  // The same, with D4's rule for large blocks on every backend.
  [[nodiscard]] Launch shimmed_whole() const {
    Launch launch = shimmed();
    launch.environment["TIDEMARK_ALLOC_CONF"] = "large:whole";
    return launch;
  }
  [[nodiscard]] nlohmann::json device(const Guest& guest, int index = 0) const {
    return world_.device(guest.pid(), GetParam().device(index));
  }
  [[nodiscard]] Usage usage(const Guest& guest, int index = 0) const { return usage_of(device(guest, index)); }

  const ShimWorld world_;
};

#define TIDEMARK_FOR_EVERY_GUEST(Suite) \
  INSTANTIATE_TEST_SUITE_P(On, Suite, testing::ValuesIn(::tidemark::test::guest_kinds()), ::tidemark::test::name_of)

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;

}  // namespace tidemark::test
