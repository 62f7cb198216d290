// Device addresses, and where their bytes really are.
//
// A chunk is a range without access rights, which the program sees, and a writable shadow of the same size right behind
// it. Chunks are mapped when an allocation needs one; reserving a whole device would fail under valgrind and ulimit -v.
// Small and large allocations come from different chunks, so that large ones keep their alignment without holes. A
// chunk made for one very large allocation is unmapped with it. Not thread-safe: DeviceMemory's mutex guards it.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "simulator/core/status.hpp"

namespace sim {

class AddressSpace {
 public:
  AddressSpace() = default;
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  ~AddressSpace();

  // Nothing when the host refuses the mapping. Requires: size > 0, a multiple of 512 B; below 2^47.
  std::optional<Address> take(std::uint64_t size);
  // Requires: exactly what take() gave. Where a whole page of the range was written, the host gets it back.
  void give_back(Address base, std::uint64_t size, bool written);

  [[nodiscard]] bool contains(Address address) const;
  // Requires: contains(address).
  [[nodiscard]] std::byte* shadow_of(Address address) const;

 private:
  struct Chunk {
    std::uint64_t size = 0;
    bool large = false;                              // for allocations aligned to 2 MiB
    std::map<Address, std::uint64_t> free_ranges{};  // start to length, never touching each other
  };
  using Chunks = std::map<Address, Chunk>;

  std::optional<Address> take_from(Chunks::iterator chunk, std::uint64_t size, std::uint64_t alignment);
  Chunks::iterator map_chunk(std::uint64_t size, bool large);
  [[nodiscard]] Chunks::const_iterator chunk_of(Address address) const;

  Chunks chunks_;
};

}  // namespace sim
