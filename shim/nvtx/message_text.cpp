#include "shim/nvtx/message_text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tidemark::nvtx {
namespace {

constexpr std::string_view kNoName = "(no name)";

// PyTorch's getNvtxStr (torch/csrc/profiler/util.cpp): each is there or not, in this order.
struct Addition {
  std::string_view text;
  bool is_list;  // its value begins with a bracket, else with a digit
};
constexpr std::array kAdditions{Addition{", seq = ", false}, Addition{", op_id = ", false},
                                Addition{", sizes = ", true}, Addition{", input_op_ids = ", true}};

bool is_value(char c, bool is_list) noexcept { return is_list ? c == '[' : (c >= '0' && c <= '9') || c == '-'; }

// UTF-8 of a code point; what is none becomes U+FFFD.
std::size_t encode(std::uint32_t point, char (&into)[4]) noexcept {
  if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
    point = 0xfffd;
  }
  const auto tail = [point](unsigned shift) { return static_cast<char>(0x80U | (point >> shift & 0x3fU)); };
  if (point < 0x80) {
    into[0] = static_cast<char>(point);
    return 1;
  }
  if (point < 0x800) {
    into[0] = static_cast<char>(0xc0U | point >> 6);
    into[1] = tail(0);
    return 2;
  }
  if (point < 0x10000) {
    into[0] = static_cast<char>(0xe0U | point >> 12);
    into[1] = tail(6);
    into[2] = tail(0);
    return 3;
  }
  into[0] = static_cast<char>(0xf0U | point >> 18);
  into[1] = tail(12);
  into[2] = tail(6);
  into[3] = tail(0);
  return 4;
}

}  // namespace

MessageText::MessageText(const char* ascii) noexcept {
  if (ascii == nullptr || *ascii == '\0') {
    ascii = kNoName.data();
  }
  size_ = ::strnlen(ascii, kMostBytes);
  std::memcpy(bytes_.data(), ascii, size_);
}

MessageText::MessageText(const wchar_t* unicode) noexcept {
  if (unicode == nullptr || *unicode == L'\0') {
    std::copy(kNoName.begin(), kNoName.end(), bytes_.begin());
    size_ = kNoName.size();
    return;
  }
  for (; *unicode != L'\0'; ++unicode) {
    char encoded[4];
    const std::size_t bytes = encode(static_cast<std::uint32_t>(*unicode), encoded);
    if (size_ + bytes > kMostBytes) {
      break;
    }
    std::memcpy(bytes_.data() + size_, encoded, bytes);
    size_ += bytes;
  }
}

std::string_view MessageText::operation() const noexcept {
  const std::string_view whole = view();
  for (const Addition& addition : kAdditions) {
    const std::size_t at = whole.find(addition.text);
    const std::size_t value = at + addition.text.size();
    if (at != std::string_view::npos && at > 0 && value < whole.size() && is_value(whole[value], addition.is_list)) {
      return whole.substr(0, at);
    }
  }
  return whole;
}

}  // namespace tidemark::nvtx
