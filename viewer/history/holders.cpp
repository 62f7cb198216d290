#include "viewer/history/holders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <unordered_map>

namespace tidemark::viewer {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
// Where the classes of age end, in seconds.
constexpr std::array<std::uint64_t, 5> kAges{1, 10, 60, 600, 3600};

std::size_t age_class(std::uint64_t seconds) {
  return static_cast<std::size_t>(std::upper_bound(kAges.begin(), kAges.end(), seconds) - kAges.begin());
}

}  // namespace

void Held::add(const history::Block& block) {
  bytes += block.size;
  requested += block.requested;
  ++blocks;
  if (block.birth_ns && (!oldest_ns || *block.birth_ns < *oldest_ns)) {
    oldest_ns = block.birth_ns;
  }
}

std::string stack_key(const Frames& frames) {
  std::string key;
  for (const Frame& frame : frames) {
    key += fmt::format("{}\x1f{}\x1f{}\n", frame.name, frame.file, frame.line);
  }
  return key;
}

std::vector<StackHeld> held_by_stack(const MemorySnapshot& snapshot, const history::Device& device) {
  std::vector<StackHeld> stacks;
  std::unordered_map<const Frames*, std::size_t> places;  // of each stack's frames
  std::unordered_map<std::string, std::size_t> by_key;
  for_each_held(device, [&](const history::Segment&, const history::Block& block) {
    const Frames& frames = frames_of(snapshot, block);
    const auto [known, is_new] = places.try_emplace(&frames, 0);
    if (is_new) {
      const auto [same, is_other] = by_key.try_emplace(stack_key(frames), stacks.size());
      known->second = same->second;
      if (is_other) {
        stacks.push_back({.frames = frames});
      }
    }
    stacks[known->second].held.add(block);
  });
  std::stable_sort(stacks.begin(), stacks.end(),
                   [](const StackHeld& a, const StackHeld& b) { return a.held.bytes > b.held.bytes; });
  return stacks;
}

std::vector<SizeHeld> held_by_size(const history::Device& device) {
  std::map<std::uint64_t, Held> classes;
  for_each_held(device, [&](const history::Segment&, const history::Block& block) {
    constexpr std::uint64_t kLargest = std::uint64_t{1} << 63;
    classes[block.size > kLargest ? UINT64_MAX : std::bit_ceil(block.size)].add(block);
  });
  std::vector<SizeHeld> sizes;
  for (const auto& [up_to, held] : classes) {
    sizes.push_back({.up_to = up_to, .held = held});
  }
  return sizes;
}

std::vector<AgeHeld> held_by_age(const history::Device& device, std::uint64_t now_ns) {
  std::array<Held, kAges.size() + 1> known{};
  Held unknown;
  for_each_held(device, [&](const history::Segment&, const history::Block& block) {
    if (!block.birth_ns) {
      unknown.add(block);
      return;
    }
    const std::uint64_t age = now_ns > *block.birth_ns ? now_ns - *block.birth_ns : 0;
    known[age_class(age / kSecond)].add(block);
  });
  std::vector<AgeHeld> ages;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i].blocks > 0) {
      ages.push_back({.from = i == 0 ? 0 : kAges[i - 1],
                      .to = i < kAges.size() ? std::optional{kAges[i]} : std::nullopt,
                      .held = known[i]});
    }
  }
  if (unknown.blocks > 0) {
    ages.push_back({.held = unknown});
  }
  return ages;
}

Held held_in_all(const history::Device& device) {
  Held all;
  for_each_held(device, [&](const history::Segment&, const history::Block& block) { all.add(block); });
  return all;
}

}  // namespace tidemark::viewer
