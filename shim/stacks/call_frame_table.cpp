#include "shim/stacks/call_frame_table.hpp"

#include <bit>
#include <initializer_list>

#include "shim/stacks/row_cache.hpp"

namespace tidemark::stacks {
namespace {

// .eh_frame_hdr as every linker writes it: counts and offsets of four bytes, offsets from its own beginning.
struct Header {
  std::uint8_t version;
  std::uint8_t frames_encoding;
  std::uint8_t count_encoding;
  std::uint8_t table_encoding;
  std::int32_t frames;
  std::uint32_t count;
};
static_assert(sizeof(Header) == 12);
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kUnsigned4 = 0x03;
constexpr std::uint8_t kSigned4FromHeader = 0x3B;

struct Line {
  std::int32_t function;
  std::int32_t entry;
};

std::uintptr_t from_header(std::uintptr_t header, std::int32_t offset) {
  return header + static_cast<std::uintptr_t>(std::intptr_t{offset});
}

Line line_at(std::uintptr_t lines, std::uint32_t index, std::uintptr_t end, bool& failed) {
  ByteCursor cursor{lines + std::uintptr_t{index} * sizeof(Line), end};
  const Line line = cursor.read<Line>();
  failed = failed || cursor.failed();
  return line;
}

// Where the entry of the last function that doesn't begin behind `address` lies; 0: there is none.
std::uintptr_t find_entry(const KnownObject& object, std::uintptr_t address) {
  ByteCursor cursor{object.table, object.end};
  const auto header = cursor.read<Header>();
  if (cursor.failed() || header.version != kVersion || header.count_encoding != kUnsigned4 ||
      header.table_encoding != kSigned4FromHeader || header.count == 0) {
    return 0;
  }
  const std::uintptr_t lines = cursor.at();
  bool failed = false;
  std::uint32_t low = 0;
  std::uint32_t high = header.count;
  while (high - low > 1 && !failed) {
    const std::uint32_t middle = low + (high - low) / 2;
    (from_header(object.table, line_at(lines, middle, object.end, failed).function) <= address ? low : high) = middle;
  }
  const Line line = line_at(lines, low, object.end, failed);
  return failed || from_header(object.table, line.function) > address ? 0 : from_header(object.table, line.entry);
}

// A record of .eh_frame, behind its length.
ByteCursor open_record(const KnownObject& object, std::uintptr_t at) {
  constexpr std::uint32_t kLonger = 0xFFFFFFFF;  // 64-bit lengths, which nobody writes here
  ByteCursor cursor{at, object.end};
  const auto length = cursor.read<std::uint32_t>();
  if (!object.holds(at) || cursor.failed() || length < 4 || length == kLonger || length > object.end - cursor.at()) {
    return {0, 0};
  }
  return {cursor.at(), cursor.at() + length};
}

// What all functions of a kind have in common, and how their entries are written.
bool read_common(ByteCursor cursor, CallFrameEntry& entry, std::uint8_t& pointers, bool& has_augmentation) {
  const auto id = cursor.read<std::uint32_t>();
  const auto version = cursor.read<std::uint8_t>();
  if (id != 0 || (version != 1 && version != 3)) {
    return false;
  }
  ByteCursor letters = cursor;
  while (!cursor.failed() && cursor.read<char>() != '\0') {
  }
  entry.code_unit = cursor.read_uleb();
  entry.data_unit = cursor.read_sleb();
  entry.return_register = version == 1 ? cursor.read<std::uint8_t>() : cursor.read_uleb();
  pointers = 0;
  has_augmentation = false;
  for (char letter = letters.read<char>(); letter != '\0' && !letters.failed(); letter = letters.read<char>()) {
    switch (letter) {
      case 'z':
        cursor.read_uleb();
        has_augmentation = true;
        break;
      case 'R':
        pointers = cursor.read<std::uint8_t>();
        break;
      case 'L':
        cursor.read<std::uint8_t>();
        break;
      case 'P': {
        constexpr std::uint8_t kIndirect = 0x80;
        const auto encoding = static_cast<std::uint8_t>(cursor.read<std::uint8_t>() & ~kIndirect);
        (void)read_pointer(cursor, encoding, 0);
        break;
      }
      case 'S':
        entry.is_signal = true;
        break;
      case 'B':
        break;
      default:
        return false;
    }
  }
  entry.start = cursor;
  return !cursor.failed();
}

}  // namespace

KnownObject find_object(std::uintptr_t address) noexcept {
  dl_find_object found{};
  if (_dl_find_object(reinterpret_cast<void*>(address), &found) != 0) {
    return {};
  }
  KnownObject object{.begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start),
                     .end = reinterpret_cast<std::uintptr_t>(found.dlfo_map_end),
                     .table = reinterpret_cast<std::uintptr_t>(found.dlfo_eh_frame)};
  const auto link = reinterpret_cast<std::uintptr_t>(found.dlfo_link_map);
  std::uint64_t identity = rows_forgotten() + 1;
  for (const std::uint64_t part :
       {std::uint64_t{link}, std::uint64_t{object.begin}, std::uint64_t{object.end}, std::uint64_t{object.table}}) {
    identity = std::rotl((identity ^ part) * 0x9E3779B97F4A7C15, 29);
  }
  if (object.holds(object.table)) {
    // What another object that is loaded there later has no reason to have the same: how many functions, and where.
    const auto* header = reinterpret_cast<const Header*>(object.table);
    identity ^= (std::uint64_t{header->count} << 32) | static_cast<std::uint32_t>(header->frames);
  }
  object.identity = identity;
  return object;
}

bool find_call_frame_entry(const KnownObject& object, std::uintptr_t address, CallFrameEntry& entry) noexcept {
  const std::uintptr_t at = object.holds(object.table) ? find_entry(object, address) : 0;
  if (at == 0) {
    return false;
  }
  ByteCursor cursor = open_record(object, at);
  const std::uintptr_t back_from = cursor.at();
  const auto back = cursor.read<std::uint32_t>();
  if (cursor.failed() || back == 0 || back > back_from - object.begin) {
    return false;
  }
  std::uint8_t pointers = 0;
  bool has_augmentation = false;
  if (!read_common(open_record(object, back_from - back), entry, pointers, has_augmentation)) {
    return false;
  }
  entry.begin = read_pointer(cursor, pointers, object.table);
  const std::uintptr_t bytes = read_pointer(cursor, pointers & 0x0FU, 0);
  if (has_augmentation) {
    cursor.skip(cursor.read_uleb());
  }
  entry.program = cursor;
  return !cursor.failed() && address >= entry.begin && address - entry.begin < bytes;
}

}  // namespace tidemark::stacks
