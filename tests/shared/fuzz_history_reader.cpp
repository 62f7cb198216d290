// libFuzzer: the reader must survive any file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "shared/history/snapshot_image.hpp"
#include "tests/shared/fuzz_file.hpp"
#include "tests/shared/history_world.hpp"

namespace {

using namespace tidemark;

// Where patches change something: the head, and the entries that are in use.
std::vector<std::size_t> used_words(const std::vector<std::byte>& file) {
  std::vector<std::size_t> used;
  for (std::size_t at = 0; at < file.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, &file[at], sizeof word);
    if (word != 0 || at < offsetof(history::Layout, devices) + 2 * sizeof(history::DeviceRecord)) {
      used.push_back(at);
    }
  }
  return used;
}

// No larger than what is in it: the reader looks at all of it in each run.
std::vector<std::byte> whole_file() {
  history::SnapshotImage image;
  const history::DeviceSizes sizes{.ring = 16, .blocks = 8, .segments = 4};
  const history::ProcessSizes process{.stacks = 2, .frames = 8, .strings = 4, .text = 16, .modules = 1};
  static_cast<void>(
      image.make({.settings = {.stacks = history::Stacks::All, .max_entries = 16}}, process, {&sizes, 1}));
  history::ProcessTables& tables = image.tables();
  const std::uint64_t address = 0x1234;
  const history::PythonFrame frame{
      .name = tables.intern_string("name"), .file = tables.intern_string("file"), .line = 1};
  const history::StackId stack = tables.intern_stack({.addresses = {&address, 1}, .python = {&frame, 1}}, 1).number;
  static_cast<void>(tables.add_module({.start = 0x1000, .end = 0x2000, .path = "/lib/x.so"}, 1));
  test::SmallDevice device{image.device(0)};
  device.make_segment();
  for (int i = 0; i < 10; ++i) {
    device.allocate(stack);
    device.free();
  }
  device.allocate(stack);
  const test::TemporaryDirectory directory;
  const std::string path = directory / "image";
  static_cast<void>(image.save(path.c_str()));
  return test::read_file(path);
}

void check(const history::History& history) {
  for (const history::Device& device : history.devices) {
    for (const history::Event& event : device.events) {
      if (event.stack >= history.stacks.size()) {
        std::abort();
      }
    }
    for (const history::Segment& segment : device.segments) {
      std::uint64_t at = segment.address;
      for (const history::Block& block : segment.blocks) {
        if (block.address != at || block.size == 0 || block.stack >= history.stacks.size()) {
          std::abort();
        }
        at += block.size;
      }
      if (at != segment.address + segment.size) {
        std::abort();
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  static const std::vector<std::byte> kWhole = whole_file();
  static const std::vector<std::size_t> kUsed = used_words(kWhole);
  const auto place_of = [](std::uint16_t chosen) { return kUsed[chosen % kUsed.size()]; };
  test::look_at_file(test::fuzzed_file<std::uint64_t>({data, size}, kWhole, place_of), [](const std::string& path) {
    if (const auto reader = history::HistoryReader::open(path)) {
      static_cast<void>(reader.value().recording());
      if (const auto read = reader.value().read({.still_ns = 1, .busy_ns = 1})) {
        check(read.value());
      }
    }
  });
  return 0;
}
