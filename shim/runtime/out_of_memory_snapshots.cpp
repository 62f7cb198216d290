#include "shim/runtime/out_of_memory_snapshots.hpp"

#include <cstring>

#include "shared/base/scratch.hpp"
#include "shim/hook/kept_errno.hpp"
#include "shim/runtime/log.hpp"
#include "shim/runtime/path_pattern.hpp"

namespace tidemark::runtime {

void OutOfMemorySnapshots::take(publish::Historian& historian, std::string_view pattern) noexcept {
  if (pattern.empty() || taken_.load(std::memory_order_relaxed) >= kMost) {
    return;
  }
  const unsigned number = taken_.fetch_add(1, std::memory_order_relaxed) + 1;
  const hook::KeptErrno kept;
  const Scratch<PathText> path;
  if (number > kMost || !path) {
    return;
  }
  fill_in(*path, pattern, number);
  const Result<std::uint64_t> saved = historian.save_snapshot(path->c_str(), history::Reason::OutOfMemory, true);
  if (saved) {
    log_line(LogLevel::Warn, "what was where is in %s%s", path->c_str(),
             number == kMost ? "; that was the last snapshot of this process" : "");
  } else {
    log_line(LogLevel::Error, "no snapshot in %s: %s", path->c_str(), strerror(saved.error().native));
  }
}

}  // namespace tidemark::runtime
