#include "shim/runtime/phases.hpp"

#include <unistd.h>

namespace tidemark::runtime {
namespace {

constexpr unsigned kPlaceBits = 6;
constexpr unsigned kSerialBits = 24;
static_assert((1U << kPlaceBits) == alloc::DeviceCache::kPhaseSlots);

// The pid, so that what a parent opened is nothing in its forked child; a serial number, so that what was closed is
// nothing any more; the place.
std::int64_t make_ticket(std::uint64_t serial, unsigned place) noexcept {
  const auto pid = static_cast<std::uint64_t>(::getpid());
  constexpr std::uint64_t kSerials = (std::uint64_t{1} << kSerialBits) - 1;
  return static_cast<std::int64_t>(((pid << kSerialBits | (serial & kSerials)) << kPlaceBits) | place);
}

unsigned place_of(std::int64_t ticket) noexcept {
  return static_cast<unsigned>(ticket) & (alloc::DeviceCache::kPhaseSlots - 1);
}

}  // namespace

std::optional<std::int64_t> Phases::open() noexcept {
  for (unsigned place = 0; place < kMost; ++place) {
    std::int64_t free = 0;
    if (tickets_[place].load(std::memory_order_relaxed) != free) {
      continue;  // a ticket costs a system call
    }
    const std::int64_t ticket = make_ticket(opened_.fetch_add(1, std::memory_order_relaxed) + 1, place);
    if (tickets_[place].compare_exchange_strong(free, ticket, std::memory_order_acq_rel)) {
      return ticket;
    }
  }
  return std::nullopt;
}

bool Phases::close(std::int64_t ticket) noexcept {
  return ticket > 0 && tickets_[place_of(ticket)].compare_exchange_strong(ticket, 0, std::memory_order_acq_rel);
}

std::optional<unsigned> Phases::slot_of(std::int64_t ticket) const noexcept {
  if (ticket <= 0 || tickets_[place_of(ticket)].load(std::memory_order_acquire) != ticket) {
    return std::nullopt;
  }
  return alloc::DeviceCache::kPeakSlots + place_of(ticket);
}

}  // namespace tidemark::runtime
