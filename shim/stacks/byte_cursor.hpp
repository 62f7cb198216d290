// Reads tables that the linker wrote into a loaded object, without believing them: past the end, or where there is no
// memory, everything is 0 from then on and failed() is true. Memory is asked for once a page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "shim/stacks/readable.hpp"

namespace tidemark::stacks {

class ByteCursor {
 public:
  ByteCursor(std::uintptr_t at, std::uintptr_t end) noexcept : at_(at), end_(end < at ? at : end) {}

  [[nodiscard]] std::uintptr_t at() const { return at_; }
  [[nodiscard]] std::uintptr_t end() const { return end_; }
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return failed_ || at_ >= end_; }

  template <class T>
  T read() noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (reach(sizeof(T))) {
      std::memcpy(&value, reinterpret_cast<const void*>(at_), sizeof(T));
      at_ += sizeof(T);
    }
    return value;
  }

  std::uint64_t read_uleb() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = read<std::uint8_t>();
      if (shift < 64) {
        value |= std::uint64_t{byte & 0x7FU} << shift;
      }
      if ((byte & 0x80U) == 0) {
        return value;
      }
    }
  }

  std::int64_t read_sleb() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = read<std::uint8_t>();
      if (shift < 64) {
        value |= std::uint64_t{byte & 0x7FU} << shift;
      }
      shift += 7;
      if ((byte & 0x80U) == 0) {
        if ((byte & 0x40U) != 0 && shift < 64) {
          value |= ~std::uint64_t{0} << shift;
        }
        return static_cast<std::int64_t>(value);
      }
    }
  }

  void skip(std::uint64_t bytes) noexcept {
    if (failed_ || bytes > end_ - at_) {
      failed_ = true;
    } else {
      at_ += bytes;
    }
  }

  void fail() noexcept { failed_ = true; }

 private:
  // Everything is read front to back: pages below what was checked don't come again.
  bool reach(std::size_t bytes) noexcept {
    if (failed_ || bytes > end_ - at_) {
      failed_ = true;
      return false;
    }
    const std::uintptr_t last = at_ + bytes - 1;
    if (last >= readable_to_) {
      for (std::uintptr_t page = page_of(at_ < readable_to_ ? readable_to_ : at_); page <= last; page += kPage) {
        if (!is_readable(page)) {
          failed_ = true;
          return false;
        }
        readable_to_ = page + kPage;
      }
    }
    return true;
  }

  std::uintptr_t at_;
  std::uintptr_t end_;
  std::uintptr_t readable_to_ = 0;
  bool failed_ = false;
};

// What a pointer in these tables is written like (DW_EH_PE_*). Only what linkers write: absolute, or relative to the
// place itself or to `data`; never through another pointer.
inline std::uintptr_t read_pointer(ByteCursor& cursor, std::uint8_t encoding, std::uintptr_t data) noexcept {
  const std::uintptr_t place = cursor.at();
  std::uint64_t value = 0;
  switch (encoding & 0x0FU) {
    case 0x00:
    case 0x04:
    case 0x0C:
      value = cursor.read<std::uint64_t>();
      break;
    case 0x02:
      value = cursor.read<std::uint16_t>();
      break;
    case 0x03:
      value = cursor.read<std::uint32_t>();
      break;
    case 0x0A:
      value = static_cast<std::uint64_t>(std::int64_t{cursor.read<std::int16_t>()});
      break;
    case 0x0B:
      value = static_cast<std::uint64_t>(std::int64_t{cursor.read<std::int32_t>()});
      break;
    default:
      cursor.fail();
      break;
  }
  switch (encoding & 0xF0U) {
    case 0x00:
      break;
    case 0x10:
      value += place;
      break;
    case 0x30:
      value += data;
      break;
    default:
      cursor.fail();
      break;
  }
  return cursor.failed() ? 0 : value;
}

}  // namespace tidemark::stacks
