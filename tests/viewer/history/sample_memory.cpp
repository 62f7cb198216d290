#include "tests/viewer/history/sample_memory.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tidemark::test {

using history::Action;
using history::Block;
using history::BlockState;
using history::Segment;
using history::StackId;

namespace {

std::uint64_t rounded(std::uint64_t requested) { return (requested + 511) / 512 * 512; }

bool is_whole(const Segment& segment) {
  return segment.blocks.size() == 1 && segment.blocks[0].state == BlockState::Inactive;
}

}  // namespace

SampleMemory::SampleMemory(segment::Backend backend, std::uint32_t ordinal) {
  device_.info.backend = backend;
  device_.info.ordinal = ordinal;
  device_.info.name = "Sample device";
  device_.info.capacity_bytes = 1024 * kSampleMiB;
  device_.since_ns = now_ns_;
}

void SampleMemory::add_event(history::Event event) {
  pass(1);
  event.number = device_.events_ever++;
  event.time_ns = now_ns_;
  device_.events.push_back(event);
}

std::uint64_t SampleMemory::add_segment(std::uint64_t size, bool is_large, StackId stack) {
  const std::uint64_t address =
      device_.segments.empty() ? kSampleBase : device_.segments.back().address + device_.segments.back().size;
  add_event({.action = Action::SegmentAlloc, .is_large = is_large, .stack = stack, .address = address, .size = size});
  Segment segment{.address = address, .size = size, .is_large = is_large, .stack = stack, .birth_ns = now_ns_};
  segment.blocks.push_back({.address = address, .size = size, .state = BlockState::Inactive});
  device_.segments.push_back(segment);
  return address;
}

void SampleMemory::remove_segment(std::uint64_t address) {
  const auto found = std::ranges::find(device_.segments, address, &Segment::address);
  add_event({.action = Action::SegmentFree, .is_large = found->is_large, .address = address, .size = found->size});
  device_.segments.erase(found);
}

std::uint64_t SampleMemory::allocate(std::uint64_t requested, StackId stack) {
  const std::uint64_t size = rounded(requested);
  for (Segment& segment : device_.segments) {
    for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
      const Block block = segment.blocks[i];
      if (block.state != BlockState::Inactive || block.size < size) {
        continue;
      }
      add_event({.action = Action::Alloc,
                 .is_large = segment.is_large,
                 .stack = stack,
                 .address = block.address,
                 .size = size,
                 .requested = requested});
      segment.blocks[i] = {.address = block.address,
                           .size = size,
                           .requested = requested,
                           .state = BlockState::Allocated,
                           .stack = stack,
                           .birth_ns = now_ns_};
      if (block.size > size) {
        segment.blocks.insert(
            segment.blocks.begin() + static_cast<std::ptrdiff_t>(i) + 1,
            {.address = block.address + size, .size = block.size - size, .state = BlockState::Inactive});
      }
      return block.address;
    }
  }
  return 0;
}

Block* SampleMemory::find(std::uint64_t address) {
  for (Segment& segment : device_.segments) {
    for (Block& block : segment.blocks) {
      if (block.address == address) {
        return &block;
      }
    }
  }
  throw std::logic_error("no such block");
}

void SampleMemory::request_free(std::uint64_t address, StackId stack) {
  Block& block = *find(address);
  add_event({.action = Action::FreeRequested,
             .stack = stack,
             .address = address,
             .size = block.size,
             .requested = block.requested});
  block.state = BlockState::Pending;
}

void SampleMemory::complete_free(std::uint64_t address) {
  const Block& block = *find(address);
  add_event({.action = Action::FreeCompleted, .address = address, .size = block.size, .requested = block.requested});
  for (Segment& segment : device_.segments) {
    std::vector<Block> merged;
    for (Block part : segment.blocks) {
      if (part.address == address) {
        part = {.address = part.address, .size = part.size, .state = BlockState::Inactive};
      }
      if (!merged.empty() && merged.back().state == BlockState::Inactive && part.state == BlockState::Inactive) {
        merged.back().size += part.size;
      } else {
        merged.push_back(part);
      }
    }
    segment.blocks = std::move(merged);
  }
}

void SampleMemory::run_out(std::uint64_t requested, std::uint64_t device_free, StackId stack) {
  add_event({.action = Action::OutOfMemory,
             .stack = stack,
             .size = rounded(requested),
             .requested = requested,
             .device_free = device_free});
}

void SampleMemory::note(Action action, std::uint64_t size) { add_event({.action = action, .size = size}); }

void SampleMemory::begin_recording() {
  device_.events.clear();
  device_.events_ever = 0;
  device_.since_ns = now_ns_;
  for (Segment& segment : device_.segments) {
    segment.stack = 0;
    segment.birth_ns.reset();
    for (Block& block : segment.blocks) {
      block.stack = 0;
      block.is_older = block.state != BlockState::Inactive;
    }
  }
}

void run_at_random(SampleMemory& memory, std::uint32_t seed, int steps, StackId stacks) {
  std::mt19937 random{seed};
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  std::vector<std::uint64_t> held;
  std::vector<std::uint64_t> pending;
  const auto take = [&](std::vector<std::uint64_t>& from) {
    std::swap(from[below(static_cast<std::uint32_t>(from.size()))], from.back());
    const std::uint64_t address = from.back();
    from.pop_back();
    return address;
  };
  for (int i = 0; i < steps; ++i) {
    const std::uint32_t what = below(10);
    if (what < 5) {
      const StackId stack = stacks == 0 ? 0 : 1 + below(stacks);
      const std::uint64_t size = 1 + below(200'000);
      std::uint64_t address = memory.allocate(size, stack);
      if (address == 0) {
        memory.add_segment(2 * kSampleMiB, false, stack);
        address = memory.allocate(size, stack);
      }
      held.push_back(address);
    } else if (what < 8 && !held.empty()) {
      pending.push_back(take(held));
      memory.request_free(pending.back());
    } else if (what < 9 && !pending.empty()) {
      memory.complete_free(take(pending));
    } else {
      const auto& segments = memory.device().segments;
      const auto idle = std::ranges::find_if(segments, is_whole);
      if (idle != segments.end()) {
        memory.remove_segment(idle->address);
      }
    }
  }
}

std::vector<viewer::Frames> sample_stacks() {
  const viewer::Frame main{.name = "main", .file = "train.cpp", .line = 40};
  return {{},
          {{.name = "load(batch const&)", .file = "loader.cpp", .line = 12}, main},
          {{.name = "forward(int)", .file = "model.cpp", .line = 7}, main}};
}

viewer::MemorySnapshot sample_snapshot() {
  SampleMemory memory;
  memory.add_segment(2 * kSampleMiB, false);
  memory.allocate(100);
  memory.pass(60'000);
  memory.begin_recording();
  const std::uint64_t recorded = memory.now_ns();
  memory.add_segment(4 * kSampleMiB, true, 1);
  memory.allocate(3 * kSampleMiB, 1);
  memory.allocate(1 * kSampleMiB, 2);
  const std::uint64_t gone = memory.allocate(300'000, 2);
  memory.pass(10'000);
  memory.allocate(600, 2);
  const std::uint64_t pending = memory.allocate(2000, 2);
  memory.free(gone);
  memory.note(Action::PeakReset, 4 * kSampleMiB);
  memory.request_free(pending);
  memory.run_out(100 * kSampleMiB, 7 * kSampleMiB, 1);
  memory.pass(5'000);

  viewer::MemorySnapshot snapshot;
  snapshot.source = {.id = "9f3c01aa", .title = "train: ./train"};
  snapshot.recording.kind = history::Kind::Snapshot;
  snapshot.recording.pid = 4711;
  snapshot.recording.enabled = history::Enabled::All;
  snapshot.recording.stacks = history::Stacks::Cpp;
  snapshot.recording.since_ns = recorded;
  snapshot.recording.taken_ns = memory.now_ns();
  snapshot.devices.push_back(memory.device());
  snapshot.stacks = sample_stacks();
  return snapshot;
}

}  // namespace tidemark::test
