// A short text of bounded length that can live in shared memory, in a host process and in a viewer alike: no
// allocation.
//
// What does not fit is cut off, at a UTF-8 boundary. Text that comes from another process is cleaned (clean_text)
// before anybody sees it: no control characters, no escape sequences, valid UTF-8 only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace tidemark::segment {

// The longest prefix of `text` of at most `limit` bytes that does not end inside a UTF-8 character.
[[nodiscard]] constexpr std::string_view cut_text(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) {
    return text;
  }
  std::size_t length = limit;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0u) == 0x80u) {
    --length;
  }
  return text.substr(0, length);
}

// Up to `Size - 1` bytes and a final NUL.
template <std::size_t Size>
class Text {
 public:
  constexpr Text() = default;
  constexpr Text(std::string_view text) noexcept { assign(text); }  // NOLINT(google-explicit-constructor): as a string
  constexpr Text(const char* text) noexcept : Text(std::string_view{text}) {}  // NOLINT(google-explicit-constructor)

  constexpr void assign(std::string_view text) noexcept {
    text = cut_text(text.substr(0, text.find('\0')), Size - 1);
    bytes_.fill('\0');
    std::copy(text.begin(), text.end(), bytes_.begin());
    length_ = text.size();
  }

  constexpr void append(std::string_view text) noexcept {
    text = cut_text(text.substr(0, text.find('\0')), Size - 1 - length_);
    std::copy(text.begin(), text.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(length_));
    length_ += text.size();
  }

  [[nodiscard]] constexpr std::string_view view() const noexcept { return {bytes_.data(), length_}; }
  [[nodiscard]] constexpr const char* c_str() const noexcept { return bytes_.data(); }
  [[nodiscard]] constexpr bool empty() const noexcept { return length_ == 0; }
  friend constexpr bool operator==(const Text& a, const Text& b) noexcept { return a.view() == b.view(); }

 private:
  std::array<char, Size> bytes_{};
  std::size_t length_ = 0;
};

// `bytes` up to the first NUL, with everything that a terminal could obey or that is not UTF-8 replaced by '?'.
[[nodiscard]] std::string clean_text(std::string_view bytes);

}  // namespace tidemark::segment
