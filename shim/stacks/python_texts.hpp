// What Python's code objects are called, as strings of a history. Asking an object for its names costs as much as
// the rest of a stack, so numbers are remembered by object.
//
// No reference is held, so another object can come to lie where one was: what is remembered holds only if file and name
// have the same contents, which is compared by their hashes. Where a code object keeps the two is learned from the
// objects themselves (Python's versions differ): until several have had them in the same place, each is asked.
//
// Threads: those that hold the GIL, of several interpreters.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shared/history/process_tables.hpp"
#include "shim/stacks/python_functions.hpp"

namespace tidemark::stacks {

class PythonTexts {
 public:
  // `tables` outlives this.
  explicit PythonTexts(history::ProcessTables& tables) noexcept : tables_(tables) {}

  // Name and file of this code, line 0; what finds no room in the tables is the empty string.
  [[nodiscard]] history::PythonFrame frame_of(const PythonFunctions& python, PythonObject* code) noexcept;

 private:
  struct Known {
    std::uint64_t file_hash;
    std::uint64_t name_hash;
  };
  // As in row_cache.hpp, sealed with the other words.
  struct alignas(32) Place {
    std::atomic<std::uint64_t> sealed_code{0};
    std::atomic<std::uint64_t> file_hash{0};
    std::atomic<std::uint64_t> name_hash{0};
    std::atomic<std::uint64_t> strings{0};  // kKnown, name and file
  };

  [[nodiscard]] bool read_hashes(const PythonFunctions& python, const PythonObject* code, Known& known) const noexcept;
  void learn(const PythonObject* code, const PythonObject* file, const PythonObject* name) noexcept;
  [[nodiscard]] history::PythonFrame ask(const PythonFunctions& python, PythonObject* code) noexcept;

  static constexpr std::uint64_t kKnown = std::uint64_t{1} << 63;  // also of strings that found no room
  static constexpr std::size_t kPlaces = 1024;                     // 32 KiB
  static constexpr unsigned kFirstWord = 2;                        // behind reference count and type
  static constexpr unsigned kWords = 20;                           // the smallest code object has that many (3.8)
  static constexpr std::uint32_t kAll = ((std::uint32_t{1} << kWords) - 1) & ~((std::uint32_t{1} << kFirstWord) - 1);
  static constexpr std::uint32_t kEnough = 8;  // objects

  history::ProcessTables& tables_;
  // Words of a code object that were its file, its name, in all that were looked at.
  std::atomic<std::uint32_t> may_be_file_{kAll};
  std::atomic<std::uint32_t> may_be_name_{kAll};
  std::atomic<std::uint32_t> learned_from_{0};
  std::array<Place, kPlaces> places_{};
};

}  // namespace tidemark::stacks
