// What the words of a history mean, for its writer and its readers alike.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tidemark::history {

// Never renumber.
enum class Action : std::uint8_t {
  None = 0,
  Alloc = 1,
  FreeRequested = 2,
  FreeCompleted = 3,
  SegmentAlloc = 4,
  SegmentFree = 5,
  OutOfMemory = 6,  // no address, but the device's free bytes
  Snapshot = 7,     // a copy was taken just before; size: active bytes
  PeakReset = 8,    // size: allocated bytes, which the peak is now
};
inline constexpr std::uint8_t kActions = 9;
[[nodiscard]] const char* to_text(Action action) noexcept;  // "alloc", ... as PyTorch spells them; an unknown one "?"

enum class BlockState : std::uint8_t {
  None = 0,
  Inactive = 1,
  Allocated = 2,  // "active_allocated"
  Pending = 3,    // "active_pending_free"
  Unknown = 4,    // a reader's word for a place of which the file says nothing
};
[[nodiscard]] const char* to_text(BlockState state) noexcept;

// What is recorded; control's RecordStart says it with the same numbers.
enum class Enabled : std::uint8_t { Off = 0, State = 1, All = 2 };
[[nodiscard]] const char* to_text(Enabled enabled) noexcept;  // "state", "all"

enum class Stacks : std::uint8_t { None = 0, Cpp = 1, Python = 2, All = 3 };
[[nodiscard]] const char* to_text(Stacks stacks) noexcept;  // "none", "cpp", "python", "all"

enum class Kind : std::uint8_t {
  Live = 1,      // a process writes it, or did until it ended
  Snapshot = 2,  // a copy, as it was at one moment
};
enum class Reason : std::uint8_t { None = 0, Asked = 1, OutOfMemory = 2 };  // of a snapshot

inline constexpr std::uint64_t kDefaultEntries = 150'000;
// A ring of 64 GiB; whoever asks for more has mistyped.
inline constexpr std::uint64_t kMostEntries = std::uint64_t{1} << 30;

// Stack 0 is none.
using StackId = std::uint32_t;
inline constexpr std::size_t kMostFrames = 128;  // of one stack, of each kind

// Where the frames of a stack end.
enum class StackEnd : std::uint8_t {
  Outermost = 0,  // where the thread began; of Python: at the outermost one that it has
  Cut = 1,        // there were more than are kept
  Lost = 2,       // the next could not be read
};

}  // namespace tidemark::history
