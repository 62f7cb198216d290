// The memory of one simulated device: which addresses are allocated, to whom, and the bytes behind them.
//
// Any thread may call; one mutex inside. Functions may throw std::bad_alloc when the host itself has no memory left.
//
// Capacity is exact: an allocation takes its size rounded up to 512 B, nothing else is charged, and fragmentation costs
// only addresses, of which there are plenty. The host pays for what is touched: address space is taken in chunks as it
// is needed. Addresses are multiples of 512 B, of 2 MiB for sizes from 1 MiB on, as real drivers give them out.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "simulator/core/address_space.hpp"
#include "simulator/core/status.hpp"

namespace sim {

class SharedCapacity;

inline constexpr std::uint64_t kAllocationUnit = 512;
inline constexpr std::byte kPoison{0xDB};

struct Allocation {
  Address base = 0;
  std::uint64_t size = 0;  // as asked for; only these bytes may be used
  ContextId owner{};
  std::uint64_t serial = 0;  // tells an allocation from a later one at the same address
  bool foreign = false;      // another process's bytes, opened here: costs no capacity, release() refuses it
};

struct MemoryInfo {
  std::uint64_t free = 0;
  std::uint64_t total = 0;
};

class DeviceMemory {
 public:
  // `shared`: where the capacity is shared with other processes, else nullptr; `index`: the device's number there.
  // `exportable`: export_range() works; it costs an open file.
  DeviceMemory(std::uint64_t capacity, SharedCapacity* shared, int index, bool exportable = false);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  // Requires: size > 0. What an earlier owner wrote is gone: it reads as kPoison within 64 KiB of either end of what
  // was his block, and as 0 in between, because poisoning gigabytes would cost gigabytes.
  Status allocate(ContextId owner, std::uint64_t size, Address& out);

  // Only the exact base of a live allocation will do. Does not wait for anything: a driver synchronises before, as its
  // real counterpart does. With `used_by_work` every byte is poisoned, so that late work reads nonsense and not stale
  // data.
  Status release(Address base, bool used_by_work = false);

  // Takes a part of the capacity for memory that is kept elsewhere (SharedBytes), and gives it back.
  Status charge(std::uint64_t size);
  void discharge(std::uint64_t size);

  // Frees all memory of a context; returns how many allocations that were.
  std::size_t release_all_of(ContextId owner);

  // Where another process finds the bytes from the base of the allocation around `address`. Nothing for foreign ones,
  // and where the device keeps no file.
  [[nodiscard]] std::optional<FileRange> export_range(Address address) const;
  // Opens bytes of another process's device under an address of their own. OutOfMemory when the host refuses.
  Status open_foreign(ContextId owner, int fd, std::uint64_t offset, std::uint64_t size, Address& out);
  // Requires the exact base that open_foreign() gave: InvalidValue otherwise.
  Status close_foreign(Address base);

  [[nodiscard]] MemoryInfo info() const;
  [[nodiscard]] std::uint64_t used() const;  // by this process

  // The live allocation around `address` (interior addresses too).
  [[nodiscard]] std::optional<Allocation> find(Address address) const;
  // True for every address of this device's range, live or not: it is not host memory.
  [[nodiscard]] bool contains(Address address) const;

  // InvalidValue unless [address, address + size) lies in one live allocation.
  [[nodiscard]] Status check(Address address, std::uint64_t size) const;
  Status write(Address to, std::span<const std::byte> from);
  Status read(Address from, std::span<std::byte> to) const;
  // Repeats `pattern` (1, 2, 4 or 8 bytes) over `size` bytes. Requires: size is a multiple of the pattern's length.
  Status fill(Address to, std::span<const std::byte> pattern, std::uint64_t size);
  // Within this device; the ranges may overlap.
  Status copy(Address to, Address from, std::uint64_t size);

  // Takes turns with the two devices' locks, so it may be torn by work on either at the same time.
  static Status copy(DeviceMemory& to_device, Address to, const DeviceMemory& from_device, Address from,
                     std::uint64_t size);

 private:
  struct Block {
    Allocation allocation;
    std::uint64_t charged = 0;
    bool written = false;
  };
  using Blocks = std::map<Address, Block>;

  // nullptr unless one live allocation covers the whole range.
  [[nodiscard]] const Block* covering(Address address, std::uint64_t size) const;
  Block* covering(Address address, std::uint64_t size);
  void drop(Blocks::iterator block, bool used_by_work);
  void poison(const Block& block, bool wholly);

  const std::uint64_t capacity_;
  SharedCapacity* const shared_;
  const int index_;

  mutable std::mutex mutex_;
  AddressSpace space_;
  Blocks blocks_;
  std::uint64_t used_ = 0;
  std::uint64_t last_serial_ = 0;
};

}  // namespace sim
