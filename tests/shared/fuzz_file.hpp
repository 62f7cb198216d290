// Files for fuzzers of readers: an input is patches to a real file (so that it comes past the first check), or a file's
// bytes as they are.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "shared/segment/file_handle.hpp"

namespace tidemark::test {

// A patch is 16 bits that choose a place and a `Value` for it; `place_of` finds where in the file that is.
template <class Value, class PlaceOf>
std::vector<std::byte> fuzzed_file(std::span<const std::uint8_t> input, const std::vector<std::byte>& whole,
                                   PlaceOf&& place_of) {
  const auto bytes = std::as_bytes(input.subspan(1));
  if (input[0] == 0) {
    return {bytes.begin(), bytes.end()};
  }
  std::vector<std::byte> file = whole;
  std::uint16_t chosen = 0;
  constexpr std::size_t kPatch = sizeof chosen + sizeof(Value);
  for (std::size_t at = 0; at + kPatch <= bytes.size(); at += kPatch) {
    std::memcpy(&chosen, &bytes[at], sizeof chosen);
    std::memcpy(&file[place_of(chosen)], &bytes[at + sizeof chosen], sizeof(Value));
  }
  return file;
}

// Calls `look` with a path where these bytes are.
template <class Look>
void look_at_file(const std::vector<std::byte>& bytes, Look&& look) {
  const segment::FileHandle file{::memfd_create("fuzz", MFD_CLOEXEC)};
  if (::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) {
    look("/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file.get()));
  }
}

}  // namespace tidemark::test
