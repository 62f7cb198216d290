#include "shared/history/read_tables.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "shared/segment/text.hpp"

namespace tidemark::history {
namespace {

// More than any writer makes; a damaged file shall not cost gigabytes.
constexpr std::uint64_t kMostStacks = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostWords = std::uint64_t{1} << 25;
constexpr std::uint64_t kMostStrings = std::uint64_t{1} << 18;
constexpr std::uint64_t kMostModules = std::uint64_t{1} << 14;
constexpr std::uint64_t kLongestString = 4096;

std::uint64_t low_half(std::uint64_t word) { return word & 0xFFFFFFFF; }
std::uint64_t high_half(std::uint64_t word) { return word >> 32; }

// Half of stack_word::kCounts. An end that this reader doesn't know is one that was lost.
std::uint64_t count_in(std::uint64_t half) { return half & 0xFFFF; }
StackEnd end_in(std::uint64_t half) {
  const std::uint64_t end = half >> 16;
  return end <= static_cast<std::uint64_t>(StackEnd::Lost) ? static_cast<StackEnd>(end) : StackEnd::Lost;
}

class Tables {
 public:
  Tables(const WordFile& file, const RecordImage<InfoRecord>& info, const TimeBase& time)
      : file_(file), info_(info), time_(time), file_bytes_(file.bytes()) {}

  void read(History& history) {
    frames_ = words_of(offsetof(InfoRecord, frames_offset), offsetof(InfoRecord, frames_capacity));
    read_strings();
    history.stacks.assign(1, Stack{});
    visit<stack_word::kWords>(offsetof(InfoRecord, stacks_offset), offsetof(InfoRecord, stacks_capacity),
                              offsetof(InfoRecord, stacks_count), kMostStacks,
                              [&](auto entry) { history.stacks.push_back(stack_of(entry)); });
    visit<module_word::kWords>(offsetof(InfoRecord, modules_offset), offsetof(InfoRecord, modules_capacity),
                               offsetof(InfoRecord, modules_count), kMostModules,
                               [&](auto entry) { history.modules.push_back(module_of(entry)); });
  }

 private:
  [[nodiscard]] Table table(std::size_t offset_of, std::size_t capacity_of, std::size_t words,
                            std::uint64_t most) const {
    return Table::checked(info_.word(offset_of), info_.word(capacity_of), words, most, file_bytes_);
  }

  template <std::size_t Words, class Visit>
  void visit(std::size_t offset_of, std::size_t capacity_of, std::size_t count_of, std::uint64_t most, Visit&& take) {
    static_cast<void>(for_each_entry<Words>(file_, table(offset_of, capacity_of, Words, most), info_.word(count_of),
                                            [&](std::uint64_t, auto entry) { take(entry); }));
  }

  [[nodiscard]] std::vector<std::uint64_t> words_of(std::size_t offset_of, std::size_t capacity_of) const {
    const Table place = table(offset_of, capacity_of, 1, kMostWords);
    std::vector<std::uint64_t> words(place.count);
    if (!file_.read(place.offset, words)) {
      words.clear();
    }
    return words;
  }

  void read_strings() {
    const std::vector<std::uint64_t> text =
        words_of(offsetof(InfoRecord, text_offset), offsetof(InfoRecord, text_capacity));
    const std::string_view bytes{reinterpret_cast<const char*>(text.data()), text.size() * sizeof(std::uint64_t)};
    strings_.assign(1, std::string{});
    visit<1>(offsetof(InfoRecord, strings_offset), offsetof(InfoRecord, strings_capacity),
             offsetof(InfoRecord, strings_count), kMostStrings, [&](auto entry) {
               const std::uint64_t at = low_half(entry[0]);
               const std::uint64_t length = high_half(entry[0]);
               const bool fits = length <= kLongestString && at <= bytes.size() && length <= bytes.size() - at;
               strings_.push_back(fits ? segment::clean_text(bytes.substr(at, length)) : std::string{});
             });
  }

  [[nodiscard]] std::string string_at(std::uint64_t id) const {
    return id < strings_.size() ? strings_[id] : std::string{};
  }

  [[nodiscard]] Stack stack_of(std::span<const std::uint64_t, stack_word::kWords> entry) const {
    Stack stack;
    const std::uint64_t first = entry[stack_word::kFirst];
    const std::uint64_t addresses = count_in(low_half(entry[stack_word::kCounts]));
    const std::uint64_t python = count_in(high_half(entry[stack_word::kCounts]));
    const bool fits = addresses <= kMostFrames && python <= kMostFrames && first <= frames_.size() &&
                      addresses + 2 * python <= frames_.size() - first;
    if (!fits) {
      return stack;
    }
    const auto words = std::span{frames_}.subspan(first, addresses + 2 * python);
    stack.end = end_in(low_half(entry[stack_word::kCounts]));
    stack.python_end = end_in(high_half(entry[stack_word::kCounts]));
    stack.addresses.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(addresses));
    for (std::size_t i = addresses; i < words.size(); i += 2) {
      stack.python.push_back({.name = string_at(low_half(words[i])),
                              .file = string_at(high_half(words[i])),
                              .line = static_cast<std::uint32_t>(words[i + 1])});
    }
    stack.first_seen_ns = time_.realtime_of(entry[stack_word::kFirstSeen]);
    return stack;
  }

  [[nodiscard]] Module module_of(std::span<const std::uint64_t, module_word::kWords> entry) const {
    Module module{.bias = entry[module_word::kBias],
                  .start = entry[module_word::kStart],
                  .end = entry[module_word::kEnd],
                  .file_offset = entry[module_word::kFileOffset],
                  .path = string_at(entry[module_word::kPath]),
                  .since_ns = time_.realtime_of(entry[module_word::kSince])};
    const std::uint64_t bytes = std::min<std::uint64_t>(entry[module_word::kBuildIdBytes], kMostBuildIdBytes);
    for (std::uint64_t i = 0; i < bytes; ++i) {
      module.build_id.push_back(static_cast<std::uint8_t>(entry[module_word::kBuildId + i / 8] >> (i % 8 * 8)));
    }
    if (entry[module_word::kGone] != 0) {
      module.gone_ns = time_.realtime_of(entry[module_word::kGone]);
    }
    return module;
  }

  const WordFile& file_;
  const RecordImage<InfoRecord>& info_;
  const TimeBase& time_;
  const std::uint64_t file_bytes_;
  std::vector<std::uint64_t> frames_;
  std::vector<std::string> strings_;
};

}  // namespace

void read_tables(const WordFile& file, const RecordImage<InfoRecord>& info, const TimeBase& time, History& history) {
  Tables{file, info, time}.read(history);
  const auto check = [&](StackId& stack) { stack = stack < history.stacks.size() ? stack : 0; };
  for (Device& device : history.devices) {
    std::ranges::for_each(device.events, check, &Event::stack);
    for (Segment& segment : device.segments) {
      check(segment.stack);
      std::ranges::for_each(segment.blocks, check, &Block::stack);
    }
  }
}

}  // namespace tidemark::history
