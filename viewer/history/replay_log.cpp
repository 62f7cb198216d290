#include "viewer/history/replay_log.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <string>
#include <string_view>
#include <unordered_map>

#include "viewer/history/replay.hpp"

namespace tidemark::viewer {
namespace {

using history::Action;

std::string time_text(std::uint64_t ns) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  return fmt::format("{:%H:%M:%S}:{:06}", fmt::localtime(static_cast<std::time_t>(ns / kSecond)), ns % kSecond / 1000);
}

}  // namespace

std::size_t write_replay_log(const MemorySnapshot& snapshot, const history::Device& device, ByteSink& to) {
  const Replay past = replay(device, !snapshot.has_guessed_sizes);
  constexpr std::size_t kBuffer = std::size_t{1} << 16;
  std::string text = "Thread,Time,Action,Pointer,Size,Stream\n";
  std::size_t lines = 0;
  const auto put = [&](std::uint64_t ns, std::string_view action, std::uint64_t address, std::uint64_t size) {
    text += fmt::format("{},{},{},{:#x},{},0\n", snapshot.recording.pid, time_text(ns), action, address, size);
    ++lines;
    if (text.size() >= kBuffer) {
      to.write(text);
      text.clear();
    }
  };
  const std::uint64_t begin = past.moments.empty() ? snapshot.time_ns() : past.moments.front().time_ns;
  // A free says what its allocation said; of a block that was there before, nobody recorded what was asked for.
  std::unordered_map<std::uint64_t, std::uint64_t> sizes;
  for (const Earlier& block : past.earlier) {
    put(begin, "allocate", block.address, block.size);
    sizes[block.address] = block.size;
  }
  for (std::size_t i = past.first; i < device.events.size(); ++i) {
    const history::Event& event = device.events[i];
    if (event.action == Action::Alloc) {
      const std::uint64_t size = event.requested != 0 ? event.requested : event.size;
      put(event.time_ns, "allocate", event.address, size);
      sizes[event.address] = size;
    } else if (event.action == Action::FreeRequested) {
      put(event.time_ns, "free", event.address, sizes[event.address]);
    } else if (event.action == Action::OutOfMemory) {
      put(event.time_ns, "allocate failure", 0, event.requested != 0 ? event.requested : event.size);
    }
  }
  to.write(text);
  return lines;
}

}  // namespace tidemark::viewer
