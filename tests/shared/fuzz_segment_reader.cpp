// libFuzzer: the reader must survive any file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "shared/segment/derive.hpp"
#include "shared/segment/reader.hpp"
#include "tests/shared/fuzz_file.hpp"
#include "tests/shared/segment_image.hpp"

namespace {

using namespace tidemark;

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  static const std::vector<std::byte> kWhole = test::SegmentImage{}.bytes();
  const auto place_of = [](std::uint16_t chosen) { return chosen % (kWhole.size() / 4) * 4; };
  test::look_at_file(test::fuzzed_file<std::uint32_t>({data, size}, kWhole, place_of), [](const std::string& path) {
    if (const auto reader = segment::SegmentReader::open(path)) {
      look_at_everything(reader.value());
    }
  });
  return 0;
}
