// The model's frees, and what stands between a free and the next use.
#include "tests/support/reference_model.hpp"

#include <algorithm>

#include "shim/alloc/reuse_gate.hpp"

namespace tidemark::test {

using alloc::ContextId;
using Name = ModelStatName;

Status ReferenceModel::release(ModelAddress address) {
  const auto known = by_number_.find(address.segment);
  if (known == by_number_.end() || known->second->heap->detached) {
    return Error{ErrorCode::NotOurs};
  }
  Segment& segment = *known->second;
  const auto at = std::find_if(segment.blocks.begin(), segment.blocks.end(),
                               [&](const Block& block) { return block.offset == address.offset; });
  if (at == segment.blocks.end() || at->state != State::Live) {
    return Error{segment.passed_through ? ErrorCode::NotOurs : ErrorCode::InvalidValue};
  }
  Block& block = *at;
  Heap& heap = *segment.heap;
  if (segment.passed_through) {
    ++frees_;
    count_free_begun(block);
    count_free_done(block);
    count_segment_gone(segment);
    if (const Status released = driver_release(segment.size); !released.ok()) {
      count_segment(segment, true);
      count_handed_out(block, true);
      heap.segments.splice(
          heap.segments.begin(), heap.segments,
          std::find_if(heap.segments.begin(), heap.segments.end(), [&](Segment& s) { return &s == &segment; }));
      tidy(true);
      return released;
    }
    by_number_.erase(segment.number);
    heap.segments.remove_if([&](const Segment& each) { return &each == &segment; });
    tidy(true);
    return {};
  }
  block.state = State::Pending;
  block.freed_as = ++frees_;
  count_free_begun(block);
  const auto postpone = [&] {
    block.freed_as = ++frees_;
    heap.pending.push_back(&block);
    ++heap.batch_blocks;
    heap.batch_bytes += block.size;
  };
  if (policy_.free_mode == alloc::FreeMode::Fast) {
    postpone();
    Status recorded;
    const bool batch_is_full =
        heap.batch_blocks >= alloc::ReuseGate::kBatchBlocks || heap.batch_bytes >= alloc::ReuseGate::kBatchBytes;
    if (fences_work_ && batch_is_full && !device.capturing) {
      recorded = record_fence(heap);
      if (recorded.ok()) {
        const Result<bool> passed = poll_fences(heap);
        recorded = passed.ok() ? Status{} : Status{passed.error()};
      }
    }
    tidy(true, false);
    return recorded;
  }
  if (device.capturing) {
    postpone();
    return {};
  }
  const std::uint64_t order = frees_;
  if (const Status done = driver_wait(); !done.ok()) {
    if (device.refusing) {
      block.state = State::Live;
      count_free_undone(block);
      return done;
    }
    postpone();
    poison(heap);
    return done;
  }
  if (policy_.fill == alloc::Fill::Poison) {
    driver_fill(heap);
    pass(heap, order);
  }
  finish_free(block);
  pass(heap, order);
  std::erase_if(heap.fences, [&](const Fence& fence) { return fence.covers <= order; });
  tidy(true);
  return {};
}

bool ReferenceModel::pass(Heap& heap, std::uint64_t order) {
  bool passed = false;
  while (!heap.pending.empty() && heap.pending.front()->freed_as <= order) {
    Block* block = heap.pending.front();
    heap.pending.pop_front();
    if (policy_.fill == alloc::Fill::Poison) {
      driver_fill(heap);
    }
    finish_free(*block);
    passed = true;
  }
  if (passed && heap.pending.empty()) {
    heap.batch_blocks = 0;
    heap.batch_bytes = 0;
  }
  return passed;
}

Result<bool> ReferenceModel::settle(ContextId context) {
  Heap* heap = find(context);
  if (!is_serving(heap) || heap->pending.empty()) {
    return false;
  }
  if (const Status recorded = record_fence(*heap); !recorded.ok()) {
    return recorded.error();
  }
  if (!fences_work_) {
    return policy_.free_mode == alloc::FreeMode::Fast ? wait_for_frees(*heap) : Result<bool>{false};
  }
  return poll_fences(*heap);
}

Result<bool> ReferenceModel::poll_fences(Heap& heap) {
  bool passed = false;
  while (is_serving(&heap) && !heap.fences.empty() && !device.refusing) {
    if (device.broken) {
      heap.fences.pop_front();
      poison(heap);
      return *device.broken;
    }
    const Fence oldest = heap.fences.front();
    if (device.finished < oldest.work) {
      break;
    }
    heap.fences.pop_front();
    passed = pass(heap, oldest.covers) || passed;
  }
  return passed;
}

Status ReferenceModel::record_fence(Heap& heap) {
  const bool needed = is_serving(&heap) && !heap.pending.empty() && heap.pending.back()->freed_as > heap.fenced &&
                      heap.fences.size() < 16;
  if (!needed) {
    return {};
  }
  if (!device.has_fences) {
    fences_work_ = false;
    return {};
  }
  if (device.refusing) {
    return {};
  }
  if (device.broken) {
    poison(heap);
    return *device.broken;
  }
  heap.fences.push_back({.covers = frees_, .work = device.submitted});
  heap.fenced = frees_;
  heap.batch_blocks = 0;
  heap.batch_bytes = 0;
  return {};
}

Result<bool> ReferenceModel::wait_for_frees(Heap& heap) {
  const std::uint64_t order = frees_;
  if (const Status done = driver_wait(); !done.ok()) {
    if (device.refusing) {
      return false;
    }
    poison(heap);
    return done.error();
  }
  const bool passed = pass(heap, order);
  std::erase_if(heap.fences, [&](const Fence& fence) { return fence.covers <= order; });
  return passed;
}

void ReferenceModel::poison(Heap& heap) {
  heap.poisoned = true;
  std::erase_if(idle_, [&](const Segment* segment) { return segment->heap == &heap; });
}

}  // namespace tidemark::test
