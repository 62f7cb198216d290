// Texts and enumerators into the words of a record; inside a WriteSection, or before anybody can read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "shared/segment/layout.hpp"
#include "shared/segment/sequence.hpp"
#include "shared/segment/text.hpp"

namespace tidemark::segment {

template <std::size_t Count, std::size_t Size>
void store_text(std::array<Word, Count>& words, const Text<Size>& text) {
  static_assert(Size <= Count * sizeof(std::uint64_t));
  std::array<std::uint64_t, Count> image{};
  std::memcpy(image.data(), text.view().data(), text.view().size());
  for (std::size_t i = 0; i < Count; ++i) {
    store_word(words[i], image[i]);
  }
}

template <class Enum>
void store_enum(Word& word, Enum value) {
  store_word(word, static_cast<std::uint64_t>(value));
}

}  // namespace tidemark::segment
