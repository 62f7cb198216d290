#include "tests/support/reference_model.hpp"

#include <algorithm>
#include <bit>

namespace tidemark::test {

using alloc::ContextId;
using alloc::LargeRequests;
using Name = ModelStatName;

namespace {

std::uint64_t up(std::uint64_t size, std::uint64_t step) { return (size + step - 1) / step * step; }

// 8 bins to each power of two of 512 B units.
int bin_of(std::uint64_t size) {
  const std::uint64_t units = size / 512;
  if (units < 8) {
    return static_cast<int>(units);
  }
  int exponent = 0;
  while ((units >> (exponent + 1)) != 0) {
    ++exponent;
  }
  const std::uint64_t power = std::uint64_t{1} << exponent;
  return exponent * 8 + static_cast<int>((units - power) * 8 / power);
}

}  // namespace

ReferenceModel::ReferenceModel(const alloc::Policy& policy, const ModelDevice& below)
    : device(below), policy_(policy), limit_(policy.limit), counting_(policy.mode != DeviceMode::Cache) {
  words_[BasisWord::capacity_bytes] = below.capacity;
  words_[BasisWord::max_split_size] = policy.max_split_size ? policy.max_split_size->count() : ~std::uint64_t{0};
}

// Sizes

ReferenceModel::Request ReferenceModel::classify(std::uint64_t requested) const {
  Request request{.requested = requested, .block = up(requested, 512), .segment = 0, .large = false, .shared = true};
  const int exponent = static_cast<int>(std::bit_width(requested)) - 1;
  const std::uint64_t steps =
      policy_.roundup_power2_divisions[static_cast<std::size_t>(std::clamp(exponent - 20, 0, 15))];
  if (steps > 1 && requested > 512 * steps && !std::has_single_bit(requested)) {
    request.block = up(requested, (std::uint64_t{1} << exponent) / steps);
  }
  request.large = request.block > policy_.small_limit.count();
  if (!request.large) {
    request.segment = policy_.small_segment.count();
  } else if (policy_.large_requests == LargeRequests::Whole) {
    request.shared = false;
    request.block = up(request.block, policy_.large_rounding.count());
    request.segment = request.block;
  } else {
    request.segment = request.block < policy_.large_segment_below.count()
                          ? policy_.large_segment.count()
                          : up(request.block, policy_.large_rounding.count());
  }
  return request;
}

bool ReferenceModel::may_serve(const Block& block, const Request& request) const {
  if (block.size < request.block) {
    return false;
  }
  if (request.large && policy_.large_requests == LargeRequests::Whole) {
    return (block.size - request.block) * policy_.whole_waste_divisor <= block.size;
  }
  if (!policy_.max_split_size) {
    return true;
  }
  return request.block < policy_.max_split_size->count()
             ? block.size < policy_.max_split_size->count()
             : block.size < request.block + policy_.max_non_split_rounding.count();
}

bool ReferenceModel::is_split_for(const Block& block, const Request& request) const {
  const std::uint64_t rest = block.size - request.block;
  if (!request.large) {
    return rest >= 512;
  }
  return request.shared && !(policy_.max_split_size && request.block >= policy_.max_split_size->count()) &&
         rest > policy_.least_large_rest.count();
}

bool ReferenceModel::is_oversize(std::uint64_t size) const {
  return policy_.max_split_size && size >= policy_.max_split_size->count();
}

// Placement

ReferenceModel::Heap* ReferenceModel::find(ContextId context) {
  for (Heap& heap : heaps_) {
    if (heap.context == context) {
      return &heap;
    }
  }
  return nullptr;
}

ReferenceModel::Heap& ReferenceModel::heap_for(ContextId context) {
  if (Heap* heap = find(context); heap != nullptr) {
    return *heap;
  }
  heaps_.emplace_front();
  heaps_.front().context = context;
  return heaps_.front();
}

// Four of its own bin for the tightest, else upward: the first that may serve.
ReferenceModel::Block* ReferenceModel::place(Heap& heap, const Request& request) {
  auto& bins = heap.bins[request.large ? 1 : 0];
  const int own = bin_of(request.block);
  for (auto& [bin, blocks] : bins) {
    if (bin < own) {
      continue;
    }
    Block* best = nullptr;
    int looks = 0;
    for (Block* block : blocks) {
      // Above its own bin any block is large enough: the first is taken, and only if that is too large, four more are
      // looked at.
      if (bin > own && looks == 0 && may_serve(*block, request)) {
        return block;
      }
      if (looks++ == (bin == own ? 4 : 5)) {
        break;
      }
      if (may_serve(*block, request) && (best == nullptr || block->size < best->size)) {
        best = block;
      }
    }
    if (best != nullptr) {
      return best;
    }
  }
  return nullptr;
}

std::optional<ModelAddress> ReferenceModel::search(ContextId context, const Request& request) {
  Heap* heap = find(context);
  if (!is_serving(heap)) {
    return std::nullopt;
  }
  Block* block = place(*heap, request);
  if (block == nullptr) {
    return std::nullopt;
  }
  const Block& handed_out = hand_out(*block, request);
  ++hits_;
  return ModelAddress{handed_out.segment->number, handed_out.offset};
}

ReferenceModel::BlockList::iterator ReferenceModel::place_in_list(Block& block) {
  BlockList& blocks = block.segment->blocks;
  return std::find_if(blocks.begin(), blocks.end(), [&](const Block& each) { return &each == &block; });
}

// Requires: the block is free, and in its bin unless it is passed through. The front is cut off; the rest stays where
// it is.
ReferenceModel::Block& ReferenceModel::hand_out(Block& block, const Request& request) {
  Segment& segment = *block.segment;
  const bool was_split = segment.blocks.size() > 1;
  Block* front = &block;
  idle_.remove(&segment);
  if (!segment.passed_through && is_split_for(block, request)) {
    front = &*segment.blocks.insert(place_in_list(block),
                                    Block{.segment = &segment, .offset = block.offset, .size = request.block});
    block.offset += request.block;
    resize(block, block.size - request.block);
    if (was_split) {
      change(Name::InactiveSplitBytes, segment.large, -static_cast<std::int64_t>(request.block));
    } else {
      change(Name::InactiveSplit, segment.large, 1);
      change(Name::InactiveSplitBytes, segment.large, static_cast<std::int64_t>(block.size));
    }
  } else if (!segment.passed_through) {
    take_from_bin(block);
    if (was_split) {
      change(Name::InactiveSplit, segment.large, -1);
      change(Name::InactiveSplitBytes, segment.large, -static_cast<std::int64_t>(block.size));
    }
  }
  front->state = State::Live;
  front->requested = request.requested;
  count_handed_out(*front, false);
  return *front;
}

void ReferenceModel::finish_free(Block& freed) {
  Segment& segment = *freed.segment;
  count_free_done(freed);
  freed.state = State::Free;
  freed.requested = 0;
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
  const auto at = place_in_list(freed);
  const auto next = std::next(at);
  auto result = at;
  if (next != segment.blocks.end() && next->state == State::Free) {
    blocks -= 1;
    bytes -= static_cast<std::int64_t>(next->size);
    result = next;
  }
  if (at != segment.blocks.begin() && std::prev(at)->state == State::Free) {
    const auto before = std::prev(at);
    blocks -= 1;
    bytes -= static_cast<std::int64_t>(before->size);
    std::uint64_t size = before->size + at->size;
    if (result == next) {
      take_from_bin(*next);
      size += next->size;
      segment.blocks.erase(next);
    }
    resize(*before, size);
    result = before;
  } else if (result == next) {
    next->offset = at->offset;
    resize(*next, next->size + at->size);
  } else {
    put_in_bin(*at);
  }
  if (result != at) {
    segment.blocks.erase(at);
  }
  result->born = segment.heap->requests[segment.large ? 1 : 0];
  if (segment.blocks.size() > 1) {
    blocks += 1;
    bytes += static_cast<std::int64_t>(result->size);
  } else {
    enter_idle(segment, device.now_ns);
  }
  change(Name::InactiveSplit, segment.large, blocks);
  change(Name::InactiveSplitBytes, segment.large, bytes);
}

// A free block keeps its place while it stays in its bin.
void ReferenceModel::resize(Block& block, std::uint64_t size) {
  if (bin_of(size) == bin_of(block.size)) {
    block.size = size;
    return;
  }
  take_from_bin(block);
  block.size = size;
  put_in_bin(block);
}

void ReferenceModel::put_in_bin(Block& block) {
  if (!block.segment->pinned) {
    block.segment->heap->bins[block.segment->large ? 1 : 0][bin_of(block.size)].push_front(&block);
  }
}

void ReferenceModel::take_from_bin(Block& block) {
  if (!block.segment->pinned) {
    block.segment->heap->bins[block.segment->large ? 1 : 0][bin_of(block.size)].remove(&block);
  }
}

bool ReferenceModel::is_whole(const Segment& segment) {
  return segment.blocks.size() == 1 && segment.blocks.front().state == State::Free;
}

void ReferenceModel::enter_idle(Segment& segment, std::uint64_t since_ns) {
  if (!is_serving(segment.heap)) {
    return;
  }
  segment.idle_since_ns = since_ns;
  auto place = idle_.end();
  while (place != idle_.begin() && (*std::prev(place))->idle_since_ns > since_ns) {
    --place;
  }
  idle_.insert(place, &segment);
}

// The driver

Status ReferenceModel::driver_allocate(std::uint64_t size) {
  device.now_ns += device.allocate_ns;
  words_[BasisWord::driver_ns] += device.allocate_ns;
  if (device.refusing) {
    return Error{ErrorCode::Refused};
  }
  if (device.failing_allocations > 0) {
    --device.failing_allocations;
    return device.allocation_error;
  }
  if (size > device.capacity - device.used - device.taken) {
    return Error{ErrorCode::OutOfMemory};
  }
  device.used += size;
  ++words_[BasisWord::device_allocs];
  return {};
}

Status ReferenceModel::driver_release(std::uint64_t size) {
  device.now_ns += device.release_ns;
  words_[BasisWord::driver_ns] += device.release_ns;
  if (device.refusing) {
    return Error{ErrorCode::Refused};
  }
  if (device.failing_releases > 0) {
    --device.failing_releases;
    return Error{ErrorCode::DriverFailure};
  }
  device.used -= size;
  device.finished = device.submitted;
  ++words_[BasisWord::device_frees];
  return {};
}

Status ReferenceModel::driver_wait() {
  device.now_ns += device.wait_ns;
  words_[BasisWord::free_wait_ns] += device.wait_ns;
  if (device.refusing) {
    return Error{ErrorCode::Refused};
  }
  if (device.broken) {
    return *device.broken;
  }
  device.finished = device.submitted;
  return {};
}

void ReferenceModel::driver_fill(Heap& heap) {
  if (device.capturing) {
    return;
  }
  device.now_ns += device.fill_ns;
  words_[BasisWord::driver_ns] += device.fill_ns;
  if (device.refusing) {
    return;
  }
  if (device.broken) {
    poison(heap);
    return;
  }
  ++device.fills;
}

bool ReferenceModel::fits_limit(std::uint64_t size) const {
  return !limit_ || all(Name::ReservedBytes).current + size <= limit_->count();
}

ReferenceModel::Segment& ReferenceModel::add_segment(Heap& heap, const Request& request, std::uint64_t size,
                                                     bool passed_through) {
  heap.segments.push_front(Segment{.number = next_segment_++,
                                   .size = size,
                                   .heap = &heap,
                                   .large = request.large,
                                   .passed_through = passed_through,
                                   .blocks = {}});
  Segment& segment = heap.segments.front();
  segment.blocks.push_back(Block{.segment = &segment, .offset = 0, .size = size});
  by_number_[segment.number] = &segment;
  count_segment(segment, false);
  fresh_ = true;
  return segment;
}

}  // namespace tidemark::test
