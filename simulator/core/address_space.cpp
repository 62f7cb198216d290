#include "simulator/core/address_space.hpp"

#include <sys/mman.h>

#include <iterator>
#include <new>
#include <utility>

namespace sim {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kSmallUnit = 512;
constexpr std::uint64_t kLargeUnit = std::uint64_t{2} << 20;
constexpr std::uint64_t kLargeFrom = std::uint64_t{1} << 20;

// Small enough for a program under ulimit -v, large enough that a full device needs few mappings.
constexpr std::uint64_t kSmallChunk = std::uint64_t{16} << 20;
constexpr std::uint64_t kLargeChunk = std::uint64_t{64} << 20;

constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t step) { return (n + step - 1) / step * step; }

void* as_pointer(Address address) { return reinterpret_cast<void*>(address); }

// Twice `size` without access rights, the start aligned to kLargeUnit; 0 if refused.
Address reserve_twice(std::uint64_t size) {
  const std::uint64_t wanted = 2 * size;
  const std::uint64_t mapped = wanted + kLargeUnit;
  void* raw = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return 0;
  const auto start = reinterpret_cast<Address>(raw);
  const Address aligned = round_up(start, kLargeUnit);
  const std::uint64_t before = aligned - start;
  const std::uint64_t after = mapped - wanted - before;
  if (before > 0) munmap(raw, before);
  if (after > 0) munmap(as_pointer(aligned + wanted), after);
  return aligned;
}

}  // namespace

AddressSpace::~AddressSpace() {
  for (const auto& chunk : chunks_) unmap(chunk);
}

AddressSpace::Kind AddressSpace::kind_of(std::uint64_t size) { return size < kLargeFrom ? Kind::Small : Kind::Large; }

std::uint64_t AddressSpace::room_for(std::uint64_t size) {
  return round_up(size, kind_of(size) == Kind::Small ? kSmallUnit : kLargeUnit);
}

std::optional<Address> AddressSpace::take(std::uint64_t size) {
  const Kind kind = kind_of(size);
  const std::uint64_t room = room_for(size);
  for (auto& [start, chunk] : chunks_) {
    if (chunk.kind != kind || chunk.free_bytes < room) continue;
    if (auto taken = take_from(chunk, room)) return taken;
  }
  Chunk* fresh = map_chunk(kind, room);
  return fresh != nullptr ? take_from(*fresh, room) : std::nullopt;
}

// First fit: lowest address first, so that runs repeat.
std::optional<Address> AddressSpace::take_from(Chunk& chunk, std::uint64_t room) {
  for (auto range = chunk.free_ranges.begin(); range != chunk.free_ranges.end(); ++range) {
    const auto [start, length] = *range;
    if (length < room) continue;
    auto node = chunk.free_ranges.extract(range);
    // g++ 12 can't see at -O2 that a node extracted by its place is there (-Wnull-dereference).
    if (length > room && !node.empty()) {
      node.key() = start + room;
      node.mapped() = length - room;
      chunk.free_ranges.insert(std::move(node));
    }
    chunk.free_bytes -= room;
    return start;
  }
  return std::nullopt;
}

void AddressSpace::give_back(Address base, std::uint64_t size) {
  const auto chunk_at = std::prev(chunks_.upper_bound(base));
  Chunk& chunk = chunk_at->second;
  const std::uint64_t room = room_for(size);
  chunk.free_bytes += room;
  if (chunk.goes_when_empty && chunk.free_bytes == chunk.size) {
    unmap(*chunk_at);
    chunks_.erase(chunk_at);
    return;
  }
  std::uint64_t length = room;
  auto next = chunk.free_ranges.lower_bound(base);
  if (next != chunk.free_ranges.end() && next->first == base + room) {
    length += next->second;
    next = chunk.free_ranges.erase(next);
  }
  if (next != chunk.free_ranges.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == base) {
      previous->second += length;
      return;
    }
  }
  try {
    chunk.free_ranges.emplace_hint(next, base, length);
  } catch (const std::bad_alloc&) {
    // Only addresses are lost, and a free cannot fail for want of host memory.
  }
}

void AddressSpace::forget_contents(Address base, std::uint64_t size) {
  const Address first = round_up(base, kPage);
  const Address last = (base + size) / kPage * kPage;
  if (first >= last) return;
  madvise(shadow_of(first), last - first, chunk_of(base)->second.file_offset ? MADV_REMOVE : MADV_DONTNEED);
}

AddressSpace::Chunk* AddressSpace::map_chunk(Kind kind, std::uint64_t room) {
  const std::uint64_t usual = kind == Kind::Small ? kSmallChunk : kLargeChunk;
  if (room <= usual) {
    if (Chunk* chunk = map_chunk_of(kind, usual)) return chunk;
  }
  // Larger than usual, or short of address space: only what is needed.
  Chunk* chunk = map_chunk_of(kind, round_up(room, kPage));
  if (chunk != nullptr) chunk->goes_when_empty = true;
  return chunk;
}

AddressSpace::Chunk* AddressSpace::map_chunk_of(Kind kind, std::uint64_t size) {
  const Address start = reserve_twice(size);
  if (start == 0) return nullptr;
  void* shadow = as_pointer(start + size);
  const std::optional<std::uint64_t> file_offset = exportable_ ? map_into_file(shadow, size) : std::nullopt;
  if (!file_offset && mprotect(shadow, size, PROT_READ | PROT_WRITE) != 0) {
    munmap(as_pointer(start), 2 * size);
    return nullptr;
  }
  // A forked child has no use for the bytes; the range itself stays, so that a child's own device gets other addresses.
  madvise(shadow, size, MADV_DONTFORK);
  // A huge page would make one touched byte cost 2 MiB.
  madvise(shadow, size, MADV_NOHUGEPAGE);
  try {
    Chunk chunk{.size = size, .kind = kind, .file_offset = file_offset, .free_bytes = size};
    chunk.free_ranges.emplace(start, size);
    return &chunks_.emplace(start, std::move(chunk)).first->second;
  } catch (...) {
    munmap(as_pointer(start), 2 * size);
    throw;
  }
}

std::optional<std::uint64_t> AddressSpace::map_into_file(void* shadow, std::uint64_t size) {
  const auto offset = file_.extend(size);
  if (!offset) return std::nullopt;
  const int fd = file_.range_at(*offset).fd;
  const auto at = static_cast<off_t>(*offset);
  const int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
  return mmap(shadow, size, PROT_READ | PROT_WRITE, flags, fd, at) != MAP_FAILED ? offset : std::nullopt;
}

std::optional<Address> AddressSpace::take_foreign(int fd, std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t before = offset % kPage;
  const std::uint64_t mapped = round_up(before + size, kPage);
  const Address start = reserve_twice(mapped);
  if (start == 0) return std::nullopt;
  void* shadow = as_pointer(start + mapped);
  const auto at = static_cast<off_t>(offset - before);
  if (mmap(shadow, mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, at) == MAP_FAILED) {
    munmap(as_pointer(start), 2 * mapped);
    return std::nullopt;
  }
  madvise(shadow, mapped, MADV_DONTFORK);
  try {
    chunks_.emplace(start, Chunk{.size = mapped, .kind = Kind::Foreign});
  } catch (...) {
    munmap(as_pointer(start), 2 * mapped);
    throw;
  }
  return start + before;
}

void AddressSpace::give_back_foreign(Address base) {
  const auto chunk_at = std::prev(chunks_.upper_bound(base));
  unmap(*chunk_at);
  chunks_.erase(chunk_at);
}

std::optional<FileRange> AddressSpace::find_in_file(Address address) const {
  const auto& [start, chunk] = *chunk_of(address);
  if (!chunk.file_offset || !file_.is_there()) return std::nullopt;
  return file_.range_at(*chunk.file_offset + (address - start));
}

void AddressSpace::unmap(const Chunks::value_type& chunk) { munmap(as_pointer(chunk.first), 2 * chunk.second.size); }

AddressSpace::Chunks::const_iterator AddressSpace::chunk_of(Address address) const {
  const auto after = chunks_.upper_bound(address);
  if (after == chunks_.begin()) return chunks_.end();
  const auto chunk = std::prev(after);
  return address - chunk->first < chunk->second.size ? chunk : chunks_.end();
}

bool AddressSpace::contains(Address address) const { return chunk_of(address) != chunks_.end(); }

std::byte* AddressSpace::shadow_of(Address address) const {
  return static_cast<std::byte*>(as_pointer(address + chunk_of(address)->second.size));
}

}  // namespace sim
