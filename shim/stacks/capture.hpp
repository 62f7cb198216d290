// The calling thread's stack, as return addresses: cheap enough to be taken at every allocation of a program that has
// never heard of us, and names nothing (that is the viewer's, where it can do no harm).
//
// Takes no lock, allocates nothing, runs no code of the program, leaves errno alone and may be called from anywhere: in
// a constructor that dlopen runs, with the program's malloc on the stack, on a thread with 16 KiB, in a signal handler.
// What it reads may be wrong or gone: it stops there and says so. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tidemark::stacks {

enum class Ending : std::uint8_t {
  Outermost,  // the whole stack, down to where the thread began
  Full,       // there is more than `frames` holds
  Lost,       // above the last one the stack can't be read: code without tables and frame pointers, damaged memory
};

struct Walk {
  std::size_t frames = 0;
  Ending ending = Ending::Lost;
};

// The innermost first, as many as `frames` holds. Each is a return address, which points behind the call; one that was
// interrupted by a signal is made to look the same. Leaves out `skip` of them; with 0 the first is in the caller.
[[nodiscard]] Walk capture(std::span<std::uintptr_t> frames, std::size_t skip = 0) noexcept;

// Leaves out those inside this library: the innermost, and those between a runtime that came through us and the driver
// that it came to.
[[nodiscard]] Walk capture_beyond_us(std::span<std::uintptr_t> frames) noexcept;

// What is remembered of objects that are no longer loaded goes; call it when some have been unloaded (ModuleWatch
// does). Without it nothing is unsafe, but an object loaded where another was, with as many functions and tables in the
// same place, could be walked by what is known of the other.
void forget_unloaded() noexcept;

}  // namespace tidemark::stacks
