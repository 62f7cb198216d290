// Whether a segment's owner lives, and which process it is from here.
#pragma once

#include <cstdint>

namespace tidemark::segment {

// Does somebody hold an OFD lock on this byte of the file? The first one is locked by the owner's mapping for as long
// as that lives. Needs only a descriptor open for reading. False also where the kernel can't say.
[[nodiscard]] bool is_locked(int fd, std::uint64_t byte = 0) noexcept;

// Holder of the flock on a file, as this process's /proc numbers it; 0 = nobody visible from here.
[[nodiscard]] std::int64_t flock_holder(std::uint64_t device, std::uint64_t inode);

enum class ProcessSign {
  Running,
  Stopped,  // SIGSTOP or a debugger
  Absent,   // no such process, or another one has the number now
  Hidden,   // there, but /proc doesn't show it to us
};
// `start_ticks` 0: not compared.
[[nodiscard]] ProcessSign look_at_process(std::int64_t pid, std::uint64_t start_ticks) noexcept;

// Does this very process run a program? Not one that is ending or a zombie; false where we may not know.
[[nodiscard]] bool has_program(std::int64_t pid, std::uint64_t start_ticks) noexcept;

}  // namespace tidemark::segment
