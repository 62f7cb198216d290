// One number for a whole layout: two builds that lay out anything differently have different ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shared/base/device_basis.hpp"

namespace tidemark::segment {

// FNV-1a over every name and offset.
class LayoutHash {
 public:
  consteval void add(std::string_view name, std::uint64_t offset, std::uint64_t words) {
    for (const char c : name) {
      mix(static_cast<unsigned char>(c));
    }
    mix(offset);
    mix(words);
  }
  // Of all that was added, and the words of the basis.
  [[nodiscard]] consteval std::uint64_t with_basis() {
#define X(name) add(#name, index_of(BasisWord::name), 1);
    TIDEMARK_BASIS_WORDS(X)
#undef X
    return hash_;
  }

 private:
  consteval void mix(std::uint64_t word) { hash_ = (hash_ ^ word) * 0x100000001b3; }

  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace tidemark::segment
