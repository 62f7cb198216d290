// The writer of what a history has of the whole process: stacks, each once, the modules their addresses lie in, and the
// strings of both. Append-only.
//
// Threads: any (one private lock, held for the search and a few stores); call without a lock of the allocator's. What
// finds no place is counted and left out. No allocation.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "shared/history/hash_slots.hpp"
#include "shared/history/layout.hpp"
#include "shared/history/table_sizes.hpp"

namespace tidemark::history {

using StringId = std::uint32_t;  // 0: the empty string

// Without initialisers, since each stack is taken into an array of them.
struct PythonFrame {
  StringId name;
  StringId file;
  std::uint32_t line;
};

// Innermost first. More than kMostFrames of either are cut off at the outer end.
struct StackWords {
  std::span<const std::uint64_t> addresses{};
  StackEnd end = StackEnd::Outermost;
  std::span<const PythonFrame> python{};
  StackEnd python_end = StackEnd::Outermost;
  // Of what the addresses mean: where that has changed, the same ones are another stack.
  std::uint64_t generation = 0;
};

struct KeptStack {
  StackId number = 0;  // 0: no place, or nothing to keep
  bool is_new = false;
};

struct ModuleWords {
  std::uint64_t bias = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::string_view path{};
  std::span<const std::byte> build_id{};  // what is beyond kMostBuildIdBytes is cut off
};

class ProcessTables {
 public:
  // Requires: `file` is where the history begins, and was filled by fill_process_words() for these sizes.
  ProcessTables(Layout& layout, std::byte* file, const ProcessSizes& sizes) noexcept;
  ProcessTables(const ProcessTables&) = delete;
  ProcessTables& operator=(const ProcessTables&) = delete;

  KeptStack intern_stack(StackWords stack, std::uint64_t now_ns) noexcept;
  StringId intern_string(std::string_view text) noexcept;
  void count_omitted_python() noexcept;

  // A place in the table of modules; the number is what set_module_gone() takes. -1: no place.
  int add_module(const ModuleWords& module, std::uint64_t now_ns) noexcept;
  void set_module_gone(int module, std::uint64_t now_ns) noexcept;

  // Everything that is there, into tables that have nothing yet. False: they have not room for all.
  [[nodiscard]] bool copy_to(ProcessTables& copy) noexcept;
  // What copy_to() needs.
  [[nodiscard]] ProcessSizes used() noexcept;

 private:
  [[nodiscard]] Word* table(std::uint64_t index) const noexcept;
  [[nodiscard]] StackId add_stack(const StackWords& stack, std::uint64_t hash, std::uint64_t now_ns) noexcept;
  [[nodiscard]] StringId add_string(std::string_view text, std::uint64_t hash) noexcept;
  [[nodiscard]] StringId find_or_add_string(std::string_view text) noexcept;
  void count(Word& word, std::uint64_t& own) noexcept;

  InfoRecord& info_;
  std::byte* const file_;
  const ProcessSizes sizes_;
  std::atomic_flag lock_;  // guards the rest
  HashSlots stack_slots_;
  HashSlots string_slots_;
  ProcessSizes used_;  // stacks and strings without their number 0
  std::uint64_t stacks_lost_ = 0;
  std::uint64_t strings_lost_ = 0;
  std::uint64_t modules_lost_ = 0;
  std::uint64_t python_omitted_ = 0;
  Word* stacks_;
  Word* frames_;
  Word* strings_;
  Word* text_;
  Word* modules_;
};

}  // namespace tidemark::history
