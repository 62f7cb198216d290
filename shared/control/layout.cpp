#include "shared/control/layout.hpp"

#include <bit>
#include <cstring>
#include <span>

namespace tidemark::control {
namespace {

void fill_control(std::span<std::byte> image, std::uint64_t nonce) noexcept {
  static constexpr ControlImage kInitial{};
  std::memcpy(image.data(), &kInitial, sizeof kInitial);
  std::memcpy(image.data() + offsetof(ControlImage, head) + offsetof(ControlHead, nonce), &nonce, sizeof nonce);
}

constexpr segment::CompanionFile kCompanion{.bytes = kControlBytes, .fill = fill_control};

}  // namespace

const char* to_text(Operation operation) noexcept {
  switch (operation) {
    case Operation::Nop:
      return "nop";
    case Operation::Ping:
      return "ping";
    case Operation::ResetPeak:
      return "reset-peak";
    case Operation::ResetAccumulated:
      return "reset-accumulated";
    case Operation::EmptyCache:
      return "empty-cache";
    case Operation::SetLimit:
      return "limit";
    case Operation::ClearLimit:
      return "limit none";
    case Operation::RecordStart:
      return "record start";
    case Operation::RecordStop:
      return "record stop";
    case Operation::Snapshot:
      return "snapshot";
    case Operation::BeginPeak:
      return "begin peak";
    case Operation::ReadPeak:
      return "read peak";
  }
  return "?";
}

std::uint64_t checksum_of(const RequestRecord& request) noexcept {
  RequestRecord covered = request;
  covered.checksum = 0;
  const auto words = std::bit_cast<std::array<std::uint64_t, sizeof(RequestRecord) / sizeof(std::uint64_t)>>(covered);
  std::uint64_t sum = 0x9E3779B97F4A7C15;
  for (const std::uint64_t word : words) {
    // The finaliser of splitmix64: every bit of the word reaches every bit of the sum.
    sum += word;
    sum = (sum ^ (sum >> 30)) * 0xBF58476D1CE4E5B9;
    sum = (sum ^ (sum >> 27)) * 0x94D049BB133111EB;
    sum ^= sum >> 31;
  }
  return sum | 1;
}

const segment::CompanionFile& companion_file() noexcept { return kCompanion; }

}  // namespace tidemark::control
