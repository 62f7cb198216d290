// TIDEMARK_SNAPSHOT_ON_OOM: what was where when an allocation failed for want of memory. The first five times: a
// program that asks until it is refused shall not fill a disk.
#pragma once

#include <atomic>
#include <string_view>

#include "shim/publish/historian.hpp"

namespace tidemark::runtime {

class OutOfMemorySnapshots {
 public:
  static constexpr unsigned kMost = 5;

  // Into a file by the pattern (path_pattern.hpp); says where, or why not. Nothing for an empty pattern. Any thread.
  void take(publish::Historian& historian, std::string_view pattern) noexcept;

 private:
  std::atomic<unsigned> taken_{0};
};

}  // namespace tidemark::runtime
