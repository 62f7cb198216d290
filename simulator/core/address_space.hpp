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

#include "simulator/core/backing_file.hpp"
#include "simulator/core/status.hpp"

namespace sim {

class AddressSpace {
 public:
  // `exportable`: the bytes are in a file that other processes can map (find_in_file).
  explicit AddressSpace(bool exportable = false) : exportable_(exportable) {}
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  ~AddressSpace();

  // Nothing when the host refuses the mapping. Requires: 0 < size < 2^46, a multiple of 512 B.
  std::optional<Address> take(std::uint64_t size);
  // Requires: exactly what take() was asked for and gave.
  void give_back(Address base, std::uint64_t size);
  // Addresses for bytes of another process: `size` bytes from `offset` of its file. Nothing when the host refuses.
  std::optional<Address> take_foreign(int fd, std::uint64_t offset, std::uint64_t size);
  void give_back_foreign(Address base);
  // Nothing for bytes that are in no file. Requires: contains(address).
  [[nodiscard]] std::optional<FileRange> find_in_file(Address address) const;

  // The host gets the whole pages of a range back; they read as 0 from then on.
  void forget_contents(Address base, std::uint64_t size);

  [[nodiscard]] bool contains(Address address) const;
  // Requires: contains(address).
  [[nodiscard]] std::byte* shadow_of(Address address) const;

 private:
  enum class Kind { Small, Large, Foreign };
  struct Chunk {
    std::uint64_t size = 0;
    Kind kind = Kind::Small;
    bool goes_when_empty = false;
    std::optional<std::uint64_t> file_offset{};
    std::uint64_t free_bytes = 0;
    std::map<Address, std::uint64_t> free_ranges{};  // start to length; neighbours are always merged
  };
  using Chunks = std::map<Address, Chunk>;

  static Kind kind_of(std::uint64_t size);
  static std::uint64_t room_for(std::uint64_t size);
  static std::optional<Address> take_from(Chunk& chunk, std::uint64_t room);
  Chunk* map_chunk(Kind kind, std::uint64_t room);
  Chunk* map_chunk_of(Kind kind, std::uint64_t size);
  std::optional<std::uint64_t> map_into_file(void* shadow, std::uint64_t size);
  static void unmap(const Chunks::value_type& chunk);
  [[nodiscard]] Chunks::const_iterator chunk_of(Address address) const;

  const bool exportable_;
  BackingFile file_;
  Chunks chunks_;
};

}  // namespace sim
