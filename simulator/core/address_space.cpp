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
  if (first < last) madvise(shadow_of(first), last - first, MADV_DONTNEED);
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
  if (mprotect(shadow, size, PROT_READ | PROT_WRITE) != 0) {
    munmap(as_pointer(start), 2 * size);
    return nullptr;
  }
  // A forked child has no use for the bytes; the range itself stays, so that a child's own device gets other addresses.
  madvise(shadow, size, MADV_DONTFORK);
  // A huge page would make one touched byte cost 2 MiB.
  madvise(shadow, size, MADV_NOHUGEPAGE);
  try {
    Chunk chunk{.size = size, .kind = kind, .free_bytes = size, .free_ranges = {{start, size}}};
    return &chunks_.emplace(start, std::move(chunk)).first->second;
  } catch (...) {
    munmap(as_pointer(start), 2 * size);
    throw;
  }
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
