// libFuzzer: the reader must survive any file. Inputs are patches to a real segment (so that they come past the first
// check), or a file's bytes as they are.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "shared/segment/derive.hpp"
#include "shared/segment/reader.hpp"
#include "tests/shared/segment_image.hpp"

namespace {

using namespace tidemark;

struct Patch {
  std::uint16_t at;  // in units of 4 bytes
  std::uint32_t value;
};

void look_at_everything(const segment::SegmentReader& reader) {
  const segment::ProcessSnapshot snapshot = reader.snapshot();
  for (const segment::DeviceSnapshot& device : snapshot.devices) {
    static_cast<void>(segment::check_invariants(device.basis));
    static_cast<void>(segment::cache_numbers(device.basis));
  }
  for (const std::string* text : {&snapshot.identity.label, &snapshot.identity.command, &snapshot.identity.executable,
                                  &snapshot.identity.comm, &snapshot.globals.mode_reason}) {
    for (const char c : *text) {
      if (static_cast<unsigned char>(c) < 0x20) {
        std::abort();  // a terminal would obey it
      }
    }
  }
  for (std::uint32_t slot = 0; slot < segment::kAckSlots; ++slot) {
    static_cast<void>(reader.acknowledgement(slot));
  }
}

std::vector<std::byte> file_of(std::span<const std::uint8_t> input) {
  static const std::vector<std::byte> kWhole = test::SegmentImage{}.bytes();
  const auto bytes = std::as_bytes(input.subspan(1));
  if (input[0] == 0) {
    return {bytes.begin(), bytes.end()};
  }
  std::vector<std::byte> file = kWhole;
  for (std::size_t at = 0; at + 6 <= bytes.size(); at += 6) {
    Patch patch{};
    std::memcpy(&patch.at, &bytes[at], sizeof patch.at);
    std::memcpy(&patch.value, &bytes[at + 2], sizeof patch.value);
    std::memcpy(&file[patch.at % (file.size() / 4) * 4], &patch.value, sizeof patch.value);
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::vector<std::byte> bytes = file_of({data, size});
  const segment::FileHandle file{::memfd_create("fuzz", MFD_CLOEXEC)};
  if (::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return 0;
  }
  const std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file.get());
  if (const auto reader = segment::SegmentReader::open(path)) {
    look_at_everything(reader.value());
  }
  return 0;
}
