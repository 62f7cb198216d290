// Addresses without memory, and memory that is mapped there: reservations, mappings, and who may reach them.
//
// A reservation is a range without access rights, which the program sees, and right behind it room for the bytes of
// what gets mapped (as in AddressSpace). Neighbouring mappings of one reservation are one range to copies. Any thread
// may call; one mutex, held while bytes are copied, so that nothing is unmapped under a copy.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "simulator/core/shared_bytes.hpp"
#include "simulator/core/status.hpp"

namespace sim {

enum class Access { None = 0, Read = 1, ReadWrite = 3 };

// Who reaches memory: a device by the machine's index, or the host.
inline constexpr int kTheHost = -1;

struct Mapping {
  Address base = 0;
  std::uint64_t size = 0;
  int device = kTheHost;     // where the bytes are
  std::uint64_t handle = 0;  // the driver's name of them
  std::uint64_t serial = 0;
  std::map<int, Access> access{};
  std::shared_ptr<SharedBytes> bytes{};
};

class VirtualMemory {
 public:
  VirtualMemory() = default;
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;
  ~VirtualMemory();

  // At `wanted` if that is free, else anywhere. Requires: a page-multiple > 0; `alignment` 0 or a power of two.
  Status reserve(std::uint64_t size, std::uint64_t alignment, Address wanted, Address& out);
  // InvalidValue unless exactly what reserve() gave, with nothing mapped in it.
  Status free(Address base, std::uint64_t size);

  // Without access for anyone. `mapping`: base, size, device, handle, bytes. InvalidValue unless one reservation has
  // the range, and nothing is mapped in it.
  Status map(Mapping mapping);
  // Whole mappings, as many as fill the range exactly: InvalidValue otherwise. The handle of each goes to `gone`.
  Status unmap(Address base, std::uint64_t size, std::vector<std::uint64_t>& gone);
  // The same for the range. The host can be let in to its own memory only.
  Status set_access(Address base, std::uint64_t size, int who, Access access);

  [[nodiscard]] bool is_used() const { return reservations_count_.load(std::memory_order_acquire) > 0; }
  // True for every reserved address: it is not host memory.
  [[nodiscard]] bool contains(Address address) const;
  [[nodiscard]] std::optional<Mapping> find(Address address) const;
  // `device` itself or the one that has the bytes may do that to the whole range.
  [[nodiscard]] bool allows(Address address, std::uint64_t size, int device, Access access) const;

  // While it lives, nothing is unmapped.
  [[nodiscard]] std::unique_lock<std::mutex> hold() const { return std::unique_lock{mutex_}; }
  // Where the bytes are that the program knows at `address`; nullptr unless all are mapped. Requires: hold().
  [[nodiscard]] std::byte* bytes_at(Address address, std::uint64_t size) const;
  [[nodiscard]] bool contains_held(Address address) const { return around(address) != reservations_.end(); }

 private:
  using Reservations = std::map<Address, std::uint64_t>;
  using Mappings = std::map<Address, Mapping>;

  [[nodiscard]] Reservations::const_iterator around(Address address) const;
  [[nodiscard]] Mappings::const_iterator mapping_around(Address address) const;
  // All mappings that the range is made of; empty if it has a hole, or, with `whole`, cuts one.
  [[nodiscard]] std::vector<const Mapping*> covering(Address base, std::uint64_t size, bool whole) const;

  mutable std::mutex mutex_;
  std::atomic<std::size_t> reservations_count_{0};
  Reservations reservations_;
  Mappings mappings_;
  std::uint64_t last_serial_ = 0;
};

}  // namespace sim
