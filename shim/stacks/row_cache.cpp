#include "shim/stacks/row_cache.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>

namespace tidemark::stacks {
namespace {

// A program that allocates has some hundreds of addresses on its stacks, a large one with Python some thousands.
constexpr std::size_t kPlaces = 8192;  // 256 KiB, of which only what is used becomes memory
constexpr int kPlaceBits = 13;
static_assert(kPlaces == std::size_t{1} << kPlaceBits);

constexpr std::uint64_t kOdd[] = {0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9};

// No lock and no sequence number: the first word is the address mixed with the other three. Who reads words of two
// writers gets a wrong address, but for one chance in 2^64.
struct alignas(32) Place {
  std::atomic<std::uint64_t> sealed_address{0};
  std::atomic<std::uint64_t> identity{0};
  std::atomic<std::uint64_t> first{0};
  std::atomic<std::uint64_t> second{0};
};

using Words = std::array<std::uint64_t, 2>;
static_assert(sizeof(Words) == sizeof(Row));

constinit std::array<Place, kPlaces> places{};
constinit std::atomic<std::uint64_t> forgotten{0};

Place& place_of(std::uintptr_t address) noexcept { return places[(address * kOdd[0]) >> (64 - kPlaceBits)]; }

std::uint64_t seal(std::uint64_t identity, const Words& words) noexcept {
  const std::uint64_t mixed =
      (identity * kOdd[0]) ^ std::rotl(words[0] * kOdd[1], 21) ^ std::rotl(words[1] * kOdd[2], 42);
  return mixed ^ (mixed >> 29);
}

}  // namespace

bool find_row(std::uintptr_t address, std::uint64_t identity, Row& row) noexcept {
  const Place& place = place_of(address);
  const std::uint64_t sealed = place.sealed_address.load(std::memory_order_relaxed);
  const std::uint64_t kept_for = place.identity.load(std::memory_order_relaxed);
  const Words words{place.first.load(std::memory_order_relaxed), place.second.load(std::memory_order_relaxed)};
  if (kept_for != identity || (sealed ^ seal(identity, words)) != address) {
    return false;
  }
  row = std::bit_cast<Row>(words);
  return true;
}

void keep_row(std::uintptr_t address, std::uint64_t identity, const Row& row) noexcept {
  Place& place = place_of(address);
  const Words words = std::bit_cast<Words>(row);
  place.sealed_address.store(address ^ seal(identity, words), std::memory_order_relaxed);
  place.identity.store(identity, std::memory_order_relaxed);
  place.first.store(words[0], std::memory_order_relaxed);
  place.second.store(words[1], std::memory_order_relaxed);
}

void forget_rows() noexcept { forgotten.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t rows_forgotten() noexcept { return forgotten.load(std::memory_order_relaxed); }

}  // namespace tidemark::stacks
