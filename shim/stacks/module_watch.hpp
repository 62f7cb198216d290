// Writes down which objects the addresses of stacks lie in, so that whoever reads them later can tell whose they were.
//
// An object is listed when a stack leads through it for the first time: it is loaded then, and cannot go meanwhile.
// That one has gone is seen at the next look; what is loaded where it was, and has the same stacks, is told apart from
// then on. Takes no lock but one of its own, which is held for a search: the loader is asked where that takes none, and
// what belongs to an object is copied by the kernel, since it may be going just now. Threads: any.
#pragma once

#include <link.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/history/process_tables.hpp"

namespace tidemark::stacks {

class ModuleWatch {
 public:
  // `tables` outlives this. Some 50 KiB, so not for a stack.
  explicit ModuleWatch(history::ProcessTables& tables) noexcept : tables_(tables) {}
  ModuleWatch(const ModuleWatch&) = delete;
  ModuleWatch& operator=(const ModuleWatch&) = delete;

  // Told of each new object that may be Python's interpreter: the program itself, and those with that word in their
  // name.
  using MayBePython = void (*)(const link_map& object, void* data) noexcept;

  // Requires: the stack is the calling thread's own. Allocates pages while it describes an object that is new; without
  // any it is left to the next stack that leads there.
  void list(std::span<const std::uint64_t> return_addresses, std::uint64_t now_ns, MayBePython may_be_python = nullptr,
            void* data = nullptr) noexcept;

  // Says which of those that are listed have gone, and has walks forget what they know of them. One thread at a time.
  void look_for_gone(std::uint64_t now_ns) noexcept;

  // A part of what makes a stack the same as another: how often something else came to lie where its addresses are.
  [[nodiscard]] std::uint64_t generation_of(std::span<const std::uint64_t> return_addresses) const noexcept;

 private:
  struct Known {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t identity = 0;
    int number = -1;  // in the tables; -1: there was no room
    bool is_there = false;
  };
  // Where something was. The first ones are written once, the last one for all that find no place of their own.
  struct Gone {
    std::atomic<std::uint64_t> start{0};
    std::atomic<std::uint64_t> end{0};
    std::atomic<std::uint64_t> times{0};
  };
  struct Look;

  [[nodiscard]] static bool describe(std::uint64_t address, Look& look) noexcept;
  // Requires: lock_. Null: not listed.
  [[nodiscard]] Known* find(std::uint64_t address) noexcept;
  void add(const Look& look, std::uint64_t now_ns) noexcept;
  void note_gone(const Known& known) noexcept;

  static constexpr std::size_t kMost = 1024;  // as the table has places (table_sizes.cpp)
  static constexpr std::size_t kMostGone = 64;

  history::ProcessTables& tables_;
  std::atomic<std::size_t> gone_count_{0};
  std::array<Gone, kMostGone> gone_;  // written by the one who looks
  std::atomic_flag lock_;             // guards the rest
  std::size_t count_ = 0;
  std::size_t last_found_ = 0;
  std::array<Known, kMost> known_;
};

}  // namespace tidemark::stacks
