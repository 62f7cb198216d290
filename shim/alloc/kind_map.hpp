// What is known of memory that is counted and not cached, by the name under which the program gives it back: open
// addressing with linear probing, at most half full. Threads: under the books' lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "shim/alloc/mapped_array.hpp"

namespace tidemark::alloc {

// The drivers' names are numbers of several kinds, which may be equal: addresses and handles.
enum class KindSpace : std::uint8_t {
  None,      // an empty place
  Device,    // a device pointer
  Host,      // a host pointer
  Array,     // an array's handle, or a mipmapped one's
  External,  // an imported external memory's handle
  Handle,    // a physical memory's handle
  Mapping,   // an address to which physical memory is mapped
};

struct KindRecord {
  std::uint64_t name = 0;
  std::uint64_t size = 0;     // bytes
  std::uint64_t context = 0;  // the ContextId with which it goes; 0: it outlives contexts
  std::uint32_t place = 0;    // the device's number, or kHostPlace
  std::uint32_t link = 0;     // Handle and Mapping: the physical memory
  std::uint32_t opens = 1;    // how often it has to be given back
  KindSpace space = KindSpace::None;
  std::uint8_t kind = 0;  // DeviceKind, or HostKind where the place is the host

  bool operator==(const KindRecord&) const = default;
};
static_assert(sizeof(KindRecord) == 40);

class KindMap {
 public:
  // The only step that may fail or take long: after it, one insert() succeeds.
  [[nodiscard]] bool reserve() noexcept { return (count_ + 1) * 2 <= size_ || grow(); }

  // Requires: reserve(), and the name is not in its space.
  void insert(const KindRecord& record) noexcept;

  // Null: not known. Valid until the next insert or erase.
  [[nodiscard]] KindRecord* find(KindSpace space, std::uint64_t name) noexcept;

  void erase(KindSpace space, std::uint64_t name) noexcept;

  // Calls `visit(const KindRecord&)` for each until it says true.
  template <class Visit>
  void find_if(Visit&& visit) const noexcept {
    for (std::size_t slot = 0; slot < size_; ++slot) {
      if (records_[slot].space != KindSpace::None && visit(records_[slot])) {
        return;
      }
    }
  }

  // Calls `visit(const KindRecord&)` for each, for some twice; those for which it says true are erased afterwards.
  template <class Visit>
  void erase_if(Visit&& visit) noexcept {
    for (std::size_t slot = 0; slot < size_;) {
      const KindRecord& record = records_[slot];
      if (record.space == KindSpace::None || !visit(record)) {
        ++slot;
      } else {
        close_gap(slot);  // what moved into the place is visited next; what came around the end was visited before
        --count_;
      }
    }
  }

  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  [[nodiscard]] std::size_t home_of(KindSpace space, std::uint64_t name) const;
  [[nodiscard]] std::size_t next(std::size_t slot) const { return (slot + 1) & (size_ - 1); }
  [[nodiscard]] std::size_t slot_of(KindSpace space, std::uint64_t name) const noexcept;
  void place(const KindRecord& record) noexcept;
  void close_gap(std::size_t gap) noexcept;
  [[nodiscard]] bool grow() noexcept;

  MappedArray<KindRecord> records_;
  std::size_t size_ = 0;  // a power of two
  std::size_t count_ = 0;
};

}  // namespace tidemark::alloc
