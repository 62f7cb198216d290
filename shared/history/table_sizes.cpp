#include "shared/history/table_sizes.hpp"

#include <algorithm>
#include <array>

#include "shared/segment/sequence.hpp"

namespace tidemark::history {
namespace {

using segment::store_word;

constexpr std::uint64_t kPage = 4096;

template <std::size_t Count>
void copy_words(std::array<Word, Count>& to, const std::array<Word, Count>& from) noexcept {
  for (std::size_t i = 0; i < Count; ++i) {
    store_word(to[i], from[i].load(std::memory_order_relaxed));
  }
}

constexpr std::uint64_t round_up_to_page(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

// A program has fewer blocks at a time than it makes, and several in a segment, unless nothing is cached.
DeviceSizes device_sizes(const Settings& settings) noexcept {
  constexpr std::uint64_t kFewest = 1024;
  const std::uint64_t blocks = std::max(settings.max_entries, kFewest);
  return {.ring = settings.enabled == Enabled::All ? settings.max_entries : 0,
          .blocks = blocks,
          .segments = std::max(blocks / 2, kFewest)};
}

// Programs have few places that allocate: PyTorch training runs a few thousand (research on PyTorch, section 4). 24
// frames are the usual depth.
ProcessSizes process_sizes(const Settings& settings) noexcept {
  constexpr std::uint64_t kMostStacks = 65'536;
  constexpr std::uint64_t kUsualFrames = 24;
  constexpr std::uint64_t kModules = 1024;
  constexpr std::uint64_t kPathWords = 8;  // a path's usual length
  constexpr std::uint64_t kPythonStrings = 16'384;
  if (settings.stacks == Stacks::None) {
    return {};
  }
  const bool has_python = settings.stacks != Stacks::Cpp;
  ProcessSizes sizes;
  sizes.stacks = std::clamp<std::uint64_t>(settings.max_entries / 4, 1024, kMostStacks);
  sizes.frames = sizes.stacks * kUsualFrames;
  sizes.modules = kModules;
  sizes.strings = kModules + (has_python ? kPythonStrings : 0);
  sizes.text = sizes.strings * kPathWords;
  return sizes;
}

std::uint64_t first_area_offset(const ProcessSizes& sizes) noexcept {
  return kTablesOffset + round_up_to_page(sizes.bytes());
}

std::uint64_t area_bytes(const DeviceSizes& sizes) noexcept { return round_up_to_page(sizes.bytes()); }

void fill_process_words(Layout& layout, const FileWords& words, const ProcessSizes& sizes,
                        std::uint64_t total_bytes) noexcept {
  InfoRecord& info = layout.info;
  store_word(info.kind, static_cast<std::uint64_t>(words.kind));
  store_word(info.reason, static_cast<std::uint64_t>(words.reason));
  store_word(info.pid, words.pid);
  store_word(info.enabled, static_cast<std::uint64_t>(words.settings.enabled));
  store_word(info.stacks, static_cast<std::uint64_t>(words.settings.stacks));
  store_word(info.max_entries, words.settings.max_entries);
  store_word(info.start_realtime_ns, words.start_realtime_ns);
  store_word(info.start_monotonic_ns, words.start_monotonic_ns);
  store_word(info.taken_monotonic_ns, words.taken_monotonic_ns);
  if (words.identity != nullptr) {
    copy_words(info.label, words.identity->label);
    copy_words(info.command, words.identity->command);
  }

  std::uint64_t at = kTablesOffset;
  const auto place = [&at](Word& offset, Word& capacity, std::uint64_t count, std::uint64_t entry_words) {
    store_word(offset, at);
    store_word(capacity, count);
    at += count * entry_words * sizeof(std::uint64_t);
  };
  place(info.stacks_offset, info.stacks_capacity, sizes.stacks, stack_word::kWords);
  place(info.frames_offset, info.frames_capacity, sizes.frames, 1);
  place(info.strings_offset, info.strings_capacity, sizes.strings, 1);
  place(info.text_offset, info.text_capacity, sizes.text, 1);
  place(info.modules_offset, info.modules_capacity, sizes.modules, module_word::kWords);

  Head& head = layout.head;
  store_word(head.magic, kMagic);
  store_word(head.version, kVersionWord);
  store_word(head.total_bytes, total_bytes);
  store_word(head.nonce, words.nonce);
  store_word(head.layout_hash, kLayoutHash);
  head.state.store(1, std::memory_order_release);
}

}  // namespace tidemark::history
