#include "viewer/history/short_stacks.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "viewer/history/address_names.hpp"

namespace tidemark::viewer {
namespace {

// Those whose memory is in a history. Names alone, since a saved snapshot has no more; a template of the same name in
// the program has another one.
constexpr std::array<std::string_view, 8> kAllocations{"cuMemAlloc",         "cuMemAlloc_v2", "cuMemAllocPitch",
                                                       "cuMemAllocPitch_v2", "cudaMalloc",    "cudaMalloc3D",
                                                       "cudaMallocPitch",    "mtiaMalloc"};

// In front of main() and of a thread's own function.
constexpr std::array<std::string_view, 11> kBeginnings{"_start",
                                                       "__libc_start_main",
                                                       "__libc_start_main_impl",
                                                       "__libc_start_call_main",
                                                       "start_thread",
                                                       "clone",
                                                       "clone3",
                                                       "__clone",
                                                       "__clone3",
                                                       "__GI___clone",
                                                       "__clone_internal"};

bool is_allocation(const Frame& frame) { return std::ranges::find(kAllocations, frame.name) != kAllocations.end(); }

// The C library's local functions have no names where its debug information is not installed.
bool is_beginning(const Frame& frame) {
  return std::ranges::find(kBeginnings, frame.name) != kBeginnings.end() || frame.name.starts_with("libc.so.6+");
}

bool is_python(const Frame& frame) { return frame.file.ends_with(".py"); }

void shorten(Frames& frames) {
  const auto allocation = std::find_if(frames.rbegin(), frames.rend(), is_allocation);
  if (allocation != frames.rend()) {
    frames.erase(frames.begin(), std::prev(allocation.base()));
  }
  while (frames.size() > 1 && is_beginning(frames.back())) {
    frames.pop_back();
  }
  const auto interpreter = std::ranges::find_if(frames, is_interpreter);
  if (interpreter != frames.end() && std::ranges::none_of(frames, is_python)) {
    frames.erase(interpreter, frames.end());
    frames.push_back({.name = std::string{kPythonCalls}});
  }
}

}  // namespace

void shorten_stacks(MemorySnapshot& snapshot) { std::ranges::for_each(snapshot.stacks, shorten); }

}  // namespace tidemark::viewer
