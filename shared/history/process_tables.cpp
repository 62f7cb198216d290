#include "shared/history/process_tables.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "shared/base/spin_guard.hpp"
#include "shared/segment/sequence.hpp"

namespace tidemark::history {
namespace {

using segment::store_word;

constexpr std::uint64_t pair_of(std::uint64_t low, std::uint64_t high) { return low | high << 32; }

// A half of stack_word::kCounts.
constexpr std::uint64_t half_of(std::size_t count, StackEnd end) {
  return count | static_cast<std::uint64_t>(end) << 16;
}

std::uint64_t counts_of(const StackWords& stack) noexcept {
  return pair_of(half_of(stack.addresses.size(), stack.end), half_of(stack.python.size(), stack.python_end));
}

std::uint64_t hash_of(const StackWords& stack) noexcept {
  std::uint64_t hash = mix(stack.generation, counts_of(stack));
  for (const std::uint64_t address : stack.addresses) {
    hash = mix(hash, address);
  }
  for (const PythonFrame& frame : stack.python) {
    hash = mix(mix(hash, pair_of(frame.name, frame.file)), frame.line);
  }
  return hash;
}

template <class Frame>
void cut(std::span<const Frame>& frames, StackEnd& end) noexcept {
  if (frames.size() > kMostFrames) {
    frames = frames.first(kMostFrames);
    end = StackEnd::Cut;
  }
}

std::uint64_t hash_of(std::string_view text) noexcept {
  std::uint64_t hash = text.size();
  for (std::size_t at = 0; at < text.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min(sizeof word, text.size() - at));
    hash = mix(hash, word);
  }
  return hash;
}

void store_bytes(Word* to, std::span<const std::byte> bytes) noexcept {
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    store_word(*to++, word);
  }
}

constexpr std::uint64_t words_for(std::size_t bytes) {
  return (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
}

void publish(Word& count, std::uint64_t value) noexcept { count.store(value, std::memory_order_release); }

}  // namespace

ProcessTables::ProcessTables(Layout& layout, std::byte* file, const ProcessSizes& sizes) noexcept
    : info_(layout.info),
      file_(file),
      sizes_(sizes),
      stack_slots_(sizes.stacks),
      string_slots_(sizes.strings),
      stacks_(table(0)),
      frames_(stacks_ + sizes.stacks * stack_word::kWords),
      strings_(frames_ + sizes.frames),
      text_(strings_ + sizes.strings),
      modules_(text_ + sizes.text) {}

Word* ProcessTables::table(std::uint64_t index) const noexcept {
  return std::launder(reinterpret_cast<Word*>(file_ + kTablesOffset)) + index;
}

void ProcessTables::count(Word& word, std::uint64_t& own) noexcept { store_word(word, ++own); }

KeptStack ProcessTables::intern_stack(StackWords stack, std::uint64_t now_ns) noexcept {
  cut(stack.addresses, stack.end);
  cut(stack.python, stack.python_end);
  if ((stack.addresses.empty() && stack.python.empty()) || sizes_.stacks == 0) {
    return {};
  }
  const SpinGuard guard{lock_};
  const std::uint64_t hash = hash_of(stack);
  // By the hash alone: of 65536 stacks two share one once in 8 thousand million processes.
  if (const StackId known = stack_slots_.find(hash, [](std::uint32_t) { return true; }); known != 0) {
    return {.number = known, .is_new = false};
  }
  const StackId added = add_stack(stack, hash, now_ns);
  return {.number = added, .is_new = added != 0};
}

StackId ProcessTables::add_stack(const StackWords& stack, std::uint64_t hash, std::uint64_t now_ns) noexcept {
  const std::uint64_t words = stack.addresses.size() + 2 * stack.python.size();
  if (used_.stacks == sizes_.stacks || words > sizes_.frames - used_.frames) {
    count(info_.stacks_lost, stacks_lost_);
    return 0;
  }
  Word* frame = frames_ + used_.frames;
  for (const std::uint64_t address : stack.addresses) {
    store_word(*frame++, address);
  }
  for (const PythonFrame& python_frame : stack.python) {
    store_word(*frame++, pair_of(python_frame.name, python_frame.file));
    store_word(*frame++, python_frame.line);
  }
  Word* const entry = stacks_ + used_.stacks * stack_word::kWords;
  store_word(entry[stack_word::kFirst], used_.frames);
  store_word(entry[stack_word::kCounts], counts_of(stack));
  store_word(entry[stack_word::kFirstSeen], now_ns);
  store_word(entry[stack_word::kHash], hash);
  used_.frames += words;
  publish(info_.stacks_count, ++used_.stacks);
  const auto id = static_cast<StackId>(used_.stacks);
  stack_slots_.put(hash, id);
  return id;
}

StringId ProcessTables::intern_string(std::string_view text) noexcept {
  const SpinGuard guard{lock_};
  return find_or_add_string(text);
}

StringId ProcessTables::find_or_add_string(std::string_view text) noexcept {
  constexpr std::size_t kLongest = 4096;  // a path's
  text = text.substr(0, kLongest);
  if (text.empty()) {
    return 0;
  }
  const std::uint64_t hash = hash_of(text);
  const StringId known = string_slots_.find(hash, [](std::uint32_t) { return true; });
  return known != 0 ? known : add_string(text, hash);
}

StringId ProcessTables::add_string(std::string_view text, std::uint64_t hash) noexcept {
  const std::uint64_t words = words_for(text.size());
  if (used_.strings == sizes_.strings || words > sizes_.text - used_.text) {
    count(info_.strings_lost, strings_lost_);
    return 0;
  }
  store_bytes(text_ + used_.text, std::as_bytes(std::span{text}));
  store_word(strings_[used_.strings], pair_of(used_.text * sizeof(std::uint64_t), text.size()));
  used_.text += words;
  publish(info_.strings_count, ++used_.strings);
  const auto id = static_cast<StringId>(used_.strings);
  string_slots_.put(hash, id);
  return id;
}

void ProcessTables::count_omitted_python() noexcept {
  const SpinGuard guard{lock_};
  count(info_.python_omitted, python_omitted_);
}

int ProcessTables::add_module(const ModuleWords& module, std::uint64_t now_ns) noexcept {
  const SpinGuard guard{lock_};
  if (used_.modules == sizes_.modules) {
    count(info_.modules_lost, modules_lost_);
    return -1;
  }
  Word* const entry = modules_ + used_.modules * module_word::kWords;
  const auto build_id = module.build_id.first(std::min(module.build_id.size(), kMostBuildIdBytes));
  store_word(entry[module_word::kBias], module.bias);
  store_word(entry[module_word::kStart], module.start);
  store_word(entry[module_word::kEnd], module.end);
  store_word(entry[module_word::kFileOffset], module.file_offset);
  store_word(entry[module_word::kPath], find_or_add_string(module.path));
  store_word(entry[module_word::kBuildIdBytes], build_id.size());
  store_bytes(entry + module_word::kBuildId, build_id);
  store_word(entry[module_word::kSince], now_ns);
  publish(info_.modules_count, ++used_.modules);
  return static_cast<int>(used_.modules - 1);
}

void ProcessTables::set_module_gone(int module, std::uint64_t now_ns) noexcept {
  const SpinGuard guard{lock_};
  if (module >= 0 && static_cast<std::uint64_t>(module) < used_.modules) {
    store_word(modules_[static_cast<std::uint64_t>(module) * module_word::kWords + module_word::kGone], now_ns);
  }
}

ProcessSizes ProcessTables::used() noexcept {
  const SpinGuard guard{lock_};
  return used_;
}

bool ProcessTables::copy_to(ProcessTables& copy) noexcept {
  const SpinGuard guard{lock_};
  const auto move_words = [](Word* to, const Word* from, std::uint64_t words) {
    for (std::uint64_t i = 0; i < words; ++i) {
      store_word(to[i], from[i].load(std::memory_order_relaxed));
    }
  };
  // More may have come since the copy's room was measured, and events that the copy has may name it.
  const ProcessSizes& most = copy.sizes_;
  const bool fits = used_.stacks <= most.stacks && used_.frames <= most.frames && used_.strings <= most.strings &&
                    used_.text <= most.text && used_.modules <= most.modules;
  copy.used_ = {.stacks = std::min(used_.stacks, most.stacks),
                .frames = std::min(used_.frames, most.frames),
                .strings = std::min(used_.strings, most.strings),
                .text = std::min(used_.text, most.text),
                .modules = std::min(used_.modules, most.modules)};
  move_words(copy.stacks_, stacks_, copy.used_.stacks * stack_word::kWords);
  move_words(copy.frames_, frames_, copy.used_.frames);
  move_words(copy.strings_, strings_, copy.used_.strings);
  move_words(copy.text_, text_, copy.used_.text);
  move_words(copy.modules_, modules_, copy.used_.modules * module_word::kWords);
  store_word(copy.info_.stacks_lost, stacks_lost_);
  store_word(copy.info_.strings_lost, strings_lost_);
  store_word(copy.info_.modules_lost, modules_lost_);
  store_word(copy.info_.python_omitted, python_omitted_);
  publish(copy.info_.stacks_count, copy.used_.stacks);
  publish(copy.info_.strings_count, copy.used_.strings);
  publish(copy.info_.modules_count, copy.used_.modules);
  return fits;
}

}  // namespace tidemark::history
