#include "tests/support/reference_model.hpp"

#include <algorithm>
#include <bit>

#include "shim/alloc/reuse_gate.hpp"
#include "tests/support/test_clock.hpp"

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

bool is_out_of_memory(const Result<ModelAddress>& result) {
  return !result.ok() && result.error().code == ErrorCode::OutOfMemory;
}

}  // namespace

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
  take_from_bin(*block);
  hand_out(*heap, *block, request);
  return ModelAddress{block->segment->number, block->offset};
}

ReferenceModel::BlockList::iterator ReferenceModel::place_in_list(Block& block) {
  BlockList& blocks = block.segment->blocks;
  return std::find_if(blocks.begin(), blocks.end(), [&](const Block& each) { return &each == &block; });
}

// Requires: the block is free and in no bin.
void ReferenceModel::hand_out(Heap&, Block& block, const Request& request) {
  Segment& segment = *block.segment;
  const bool was_split = segment.blocks.size() > 1;
  idle_.remove(&segment);
  if (!segment.passed_through && is_split_for(block, request)) {
    const auto rest =
        segment.blocks.insert(std::next(place_in_list(block)), Block{.segment = &segment,
                                                                     .offset = block.offset + request.block,
                                                                     .size = block.size - request.block,
                                                                     .born = block.born});
    block.size = request.block;
    put_in_bin(*rest);
    if (was_split) {
      change(Name::InactiveSplitBytes, segment.large, -static_cast<std::int64_t>(block.size));
    } else {
      change(Name::InactiveSplit, segment.large, 1);
      change(Name::InactiveSplitBytes, segment.large, static_cast<std::int64_t>(rest->size));
    }
  } else if (was_split) {
    change(Name::InactiveSplit, segment.large, -1);
    change(Name::InactiveSplitBytes, segment.large, -static_cast<std::int64_t>(block.size));
  }
  block.state = State::Live;
  block.requested = request.requested;
  count_handed_out(block, false);
}

void ReferenceModel::finish_free(Block& freed) {
  Segment& segment = *freed.segment;
  count_free_done(freed);
  freed.state = State::Free;
  freed.requested = 0;
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;
  auto at = place_in_list(freed);
  const auto swallow = [&](BlockList::iterator neighbour) {
    blocks -= 1;
    bytes -= static_cast<std::int64_t>(neighbour->size);
    take_from_bin(*neighbour);
  };
  if (const auto next = std::next(at); next != segment.blocks.end() && next->state == State::Free) {
    swallow(next);
    at->size += next->size;
    segment.blocks.erase(next);
  }
  if (at != segment.blocks.begin() && std::prev(at)->state == State::Free) {
    const auto before = std::prev(at);
    swallow(before);
    before->size += at->size;
    segment.blocks.erase(at);
    at = before;
  }
  at->born = segment.heap->requests[segment.large ? 1 : 0];
  put_in_bin(*at);
  if (segment.blocks.size() > 1) {
    blocks += 1;
    bytes += static_cast<std::int64_t>(at->size);
  } else {
    enter_idle(segment, device.now_ns);
  }
  change(Name::InactiveSplit, segment.large, blocks);
  change(Name::InactiveSplitBytes, segment.large, bytes);
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
  if (device.broken) {
    return *device.broken;
  }
  device.finished = device.submitted;
  return {};
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

// Allocation

Result<ModelAddress> ReferenceModel::allocate(ContextId context, std::uint64_t requested) {
  fresh_ = false;
  const Request request = classify(requested);
  Heap* heap = find(context);
  if (heap != nullptr) {
    ++heap->requests[request.large ? 1 : 0];
  }
  const bool may_cache = !counting_ && (sharing_ || !request.shared);
  if (may_cache && !parked_) {
    if (const auto hit = search(context, request)) {
      return *hit;
    }
  }
  tidy();
  if (heap != nullptr && heap->detached) {
    return Error{ErrorCode::NotOurs};
  }
  if (!may_cache || (heap != nullptr && heap->poisoned)) {
    Result<ModelAddress> native = pass_through(context, request);
    bool counted = false;
    bool again = is_out_of_memory(native) && !device.capturing && !idle_.empty();
    while (again) {
      words_[BasisWord::alloc_retries] += counted ? 0 : 1;
      counted = true;
      const Status flushed = flush().second;
      native = pass_through(context, request);
      again = is_out_of_memory(native) && flushed.ok() && !idle_.empty();
    }
    return is_out_of_memory(native) ? fail(context, request, native.error()) : native;
  }
  if (const auto hit = search(context, request)) {
    return *hit;
  }
  if (device.capturing) {
    Result<ModelAddress> native = pass_through(context, request);
    return is_out_of_memory(native) ? fail(context, request, native.error()) : native;
  }
  const Result<bool> settled = settle(context);
  if (!settled.ok()) {
    return settled.error();
  }
  if (settled.value()) {
    if (const auto hit = search(context, request)) {
      return *hit;
    }
  }
  if (make_room(context, request)) {
    if (const auto hit = search(context, request)) {
      return *hit;
    }
  }
  Result<ModelAddress> fresh = grow(context, request);
  if (!is_out_of_memory(fresh)) {
    return fresh;
  }
  if (give_back_oversize(context, request)) {
    if (const auto hit = search(context, request)) {
      return *hit;
    }
    fresh = grow(context, request);
    if (!is_out_of_memory(fresh)) {
      return fresh;
    }
  }
  ++words_[BasisWord::alloc_retries];
  for (bool again = true; again;) {
    const Status flushed = flush().second;
    if (const auto hit = search(context, request)) {
      return *hit;
    }
    fresh = grow(context, request);
    if (is_out_of_memory(fresh) && request.requested != request.segment) {
      fresh = pass_through(context, request);
    }
    if (!is_out_of_memory(fresh)) {
      return fresh;
    }
    again = flushed.ok() && !idle_.empty();
  }
  return fail(context, request, fresh.error());
}

Result<ModelAddress> ReferenceModel::grow(ContextId context, const Request& request) {
  if (!fits_limit(request.segment)) {
    return Error{ErrorCode::OutOfMemory};
  }
  if (const Status asked = driver_allocate(request.segment); !asked.ok()) {
    return asked.error();
  }
  ++words_[BasisWord::misses];
  Heap& heap = heap_for(context);
  Segment& segment = add_segment(heap, request, request.segment, false);
  hand_out(heap, segment.blocks.front(), request);
  return ModelAddress{segment.number, 0};
}

Result<ModelAddress> ReferenceModel::pass_through(ContextId context, const Request& request) {
  if (!fits_limit(request.requested)) {
    return Error{ErrorCode::OutOfMemory};
  }
  if (const Status asked = driver_allocate(request.requested); !asked.ok()) {
    return asked.error();
  }
  ++words_[BasisWord::passed_through];
  Heap& heap = heap_for(context);
  Segment& segment = add_segment(heap, request, request.requested, true);
  hand_out(heap, segment.blocks.front(), request);
  return ModelAddress{segment.number, 0};
}

Result<ModelAddress> ReferenceModel::fail(ContextId context, const Request& request, Error error) {
  ++words_[BasisWord::ooms];
  ++words_[BasisWord::oom_count_lifetime];
  words_[BasisWord::oom_time_ns] = TestClock::kEpoch + device.now_ns;
  words_[BasisWord::oom_requested_bytes] = request.requested;
  words_[BasisWord::oom_allocated_bytes] = all(Name::AllocatedBytes).current;
  words_[BasisWord::oom_reserved_bytes] = all(Name::ReservedBytes).current;
  words_[BasisWord::oom_held_bytes] = held_.current;
  const bool asked = !device.capturing && !device.broken;
  words_[BasisWord::oom_device_free_bytes] = asked ? device.capacity - device.used - device.taken : 0;
  words_[BasisWord::oom_device_total_bytes] = asked ? device.capacity : 0;
  words_[BasisWord::oom_largest_free_block_bytes] = largest_free_block(find(context));
  return error;
}

std::uint64_t ReferenceModel::largest_free_block(const Heap* heap) const {
  std::uint64_t largest = 0;
  if (heap == nullptr) {
    return largest;
  }
  for (const Segment& segment : heap->segments) {
    for (const Block& block : segment.blocks) {
      if (block.state == State::Free && !segment.pinned) {
        largest = std::max(largest, block.size);
      }
    }
  }
  return largest;
}

// Frees

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
      tidy();
      return released;
    }
    by_number_.erase(segment.number);
    heap.segments.remove_if([&](const Segment& each) { return &each == &segment; });
    tidy();
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
    }
    tidy(false);
    return recorded;
  }
  if (device.capturing) {
    postpone();
    return {};
  }
  const std::uint64_t order = frees_;
  if (const Status done = driver_wait(); !done.ok()) {
    postpone();
    poison(heap);
    return done;
  }
  finish_free(block);
  pass(heap, order);
  tidy();
  return {};
}

bool ReferenceModel::pass(Heap& heap, std::uint64_t order) {
  bool passed = false;
  while (!heap.pending.empty() && heap.pending.front()->freed_as <= order) {
    Block* block = heap.pending.front();
    heap.pending.pop_front();
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
  if (policy_.free_mode == alloc::FreeMode::Strict || !fences_work_) {
    return wait_for_frees(*heap);
  }
  if (const Status recorded = record_fence(*heap); !recorded.ok()) {
    return recorded.error();
  }
  if (!fences_work_) {
    return wait_for_frees(*heap);
  }
  bool passed = false;
  while (!heap->fences.empty()) {
    if (device.broken) {
      heap->fences.pop_front();
      poison(*heap);
      return *device.broken;
    }
    const Fence oldest = heap->fences.front();
    if (device.finished < oldest.work) {
      break;
    }
    heap->fences.pop_front();
    passed = pass(*heap, oldest.covers) || passed;
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

// Giving back

template <class Choose>
std::pair<std::uint64_t, Status> ReferenceModel::give_back(Choose choose) {
  std::uint64_t given = 0;
  Status status;
  while (Segment* segment = choose()) {
    Heap& heap = *segment->heap;
    const std::uint64_t size = segment->size;
    take_from_bin(segment->blocks.front());
    idle_.remove(segment);
    count_segment_gone(*segment);
    if (const Status released = driver_release(size); !released.ok()) {
      status = released;
      heap.segments.splice(
          heap.segments.begin(), heap.segments,
          std::find_if(heap.segments.begin(), heap.segments.end(), [&](Segment& s) { return &s == segment; }));
      count_segment(*segment, true);
      put_in_bin(segment->blocks.front());
      poison(heap);
      continue;
    }
    given += size;
    by_number_.erase(segment->number);
    heap.segments.remove_if([&](const Segment& each) { return &each == segment; });
  }
  return {given, status};
}

std::pair<std::uint64_t, Status> ReferenceModel::flush() {
  ++words_[BasisWord::sync_all_streams];
  for (Heap& heap : heaps_) {
    if (is_serving(&heap) && !heap.pending.empty()) {
      (void)wait_for_frees(heap);
    }
  }
  return give_back([&] { return idle_.empty() ? nullptr : idle_.front(); });
}

Result<std::uint64_t> ReferenceModel::empty_cache() {
  if (device.capturing) {
    return Error{ErrorCode::Busy};
  }
  const auto [given, status] = flush();
  if (!status.ok()) {
    return status.error();
  }
  return given;
}

bool ReferenceModel::make_room(ContextId context, const Request& request) {
  std::uint64_t given = 0;
  if (policy_.garbage_collection_threshold > 0 && limit_) {
    const auto allowed =
        static_cast<std::uint64_t>(policy_.garbage_collection_threshold * static_cast<double>(limit_->count()));
    const std::uint64_t reserved = all(Name::ReservedBytes).current;
    const std::uint64_t target = reserved > allowed ? reserved - allowed : 0;
    while (given < target) {
      const auto age_of = [&](const Segment* segment) {
        return segment->heap->requests[1] - segment->blocks.front().born;
      };
      const auto is_eligible = [&](const Segment* segment) {
        return segment->large && segment->heap->context == context;
      };
      std::uint64_t total = 0;
      std::uint64_t count = 0;
      for (const Segment* segment : idle_) {
        if (is_eligible(segment)) {
          total += age_of(segment);
          ++count;
        }
      }
      const std::uint64_t round = give_back([&]() -> Segment* {
                                    for (Segment* segment : idle_) {
                                      if (is_eligible(segment) && age_of(segment) * count >= total) {
                                        return segment;
                                      }
                                    }
                                    return nullptr;
                                  }).first;
      if (round == 0) {
        break;
      }
      given += round;
    }
  }
  if (policy_.growth_gate) {
    given += give_back([&]() -> Segment* {
               const std::uint64_t bound = std::max(peak_active_ever_ + peak_active_ever_ / 4,
                                                    peak_active_ever_ + policy_.growth_slack.count());
               if (all(Name::ReservedBytes).current + request.segment <= bound || idle_.empty()) {
                 return nullptr;
               }
               return *std::max_element(idle_.begin(), idle_.end(),
                                        [](const Segment* a, const Segment* b) { return a->size < b->size; });
             }).first;
  }
  return given != 0;
}

bool ReferenceModel::give_back_oversize(ContextId context, const Request& request) {
  if (!policy_.max_split_size || !request.large) {
    return false;
  }
  const std::uint64_t wanted = std::max(request.block, policy_.max_split_size->count());
  std::uint64_t chosen = 0;
  const std::uint64_t given =
      give_back([&]() -> Segment* {
        Segment* enough = nullptr;
        Segment* largest = nullptr;
        for (Segment* segment : idle_) {
          if (segment->heap->context != context || !segment->large || !is_oversize(segment->size)) {
            continue;
          }
          if (segment->size >= wanted && (enough == nullptr || segment->size < enough->size)) {
            enough = segment;
          }
          if (largest == nullptr || segment->size > largest->size) {
            largest = segment;
          }
        }
        Segment* next = chosen >= wanted ? nullptr : enough != nullptr ? enough : largest;
        chosen += next == nullptr ? 0 : next->size;
        return next;
      }).first;
  return given >= wanted;
}

ReferenceModel::Segment* ReferenceModel::next_to_tidy(bool looks_at_the_time) {
  for (Segment* segment : idle_) {
    if (counting_ || segment->pinned) {
      return segment;
    }
  }
  if (idle_.empty()) {
    return nullptr;
  }
  Segment* oldest = idle_.front();
  const std::uint64_t cached = all(Name::ReservedBytes).current - all(Name::ActiveBytes).current;
  const bool too_much = policy_.max_cached && cached > policy_.max_cached->count();
  const bool too_old = looks_at_the_time && policy_.max_idle_ns &&
                       device.now_ns - oldest->idle_since_ns >= *policy_.max_idle_ns &&
                       cached > policy_.idle_floor.count();
  return too_much || too_old ? oldest : nullptr;
}

// A fast free does not read the clock, unless there is something else to do.
void ReferenceModel::tidy(bool looks_at_the_time) {
  if (device.capturing) {
    return;
  }
  if (!parked_ && next_to_tidy(looks_at_the_time) == nullptr) {
    return;
  }
  const std::uint64_t now_ns = device.now_ns;
  if (parked_) {
    flush();
    parked_ = false;
  }
  give_back([&] {
    // As of the moment of the call, however long giving back takes.
    const std::uint64_t later_ns = device.now_ns;
    device.now_ns = now_ns;
    Segment* next = next_to_tidy(true);
    device.now_ns = later_ns;
    return next;
  });
}

void ReferenceModel::pin(ModelAddress address) {
  Segment& segment = *by_number_.at(address.segment);
  if (segment.pinned || segment.passed_through) {
    return;
  }
  for (Block& block : segment.blocks) {
    if (block.state == State::Free) {
      take_from_bin(block);
    }
  }
  segment.pinned = true;
}

// Contexts

void ReferenceModel::detach(ContextId context) {
  Heap* heap = find(context);
  if (heap == nullptr) {
    return;
  }
  std::erase_if(idle_, [&](const Segment* segment) { return segment->heap == heap; });
  heap->detached = true;
  heap->fences.clear();
  heap->fenced = 0;
}

void ReferenceModel::reattach(ContextId context) {
  Heap* heap = find(context);
  if (heap == nullptr) {
    return;
  }
  heap->detached = false;
  for (Segment& segment : heap->segments) {
    if (is_whole(segment)) {
      enter_idle(segment, segment.idle_since_ns);
    }
  }
}

void ReferenceModel::forget(ContextId context) {
  Heap* heap = find(context);
  if (heap == nullptr) {
    return;
  }
  for (Segment& segment : heap->segments) {
    for (Block& block : segment.blocks) {
      if (block.state == State::Live) {
        count_free_begun(block);
      }
      if (block.state != State::Free) {
        count_free_done(block);
      } else if (segment.blocks.size() > 1) {
        change(Name::InactiveSplit, segment.large, -1);
        change(Name::InactiveSplitBytes, segment.large, -static_cast<std::int64_t>(block.size));
      }
    }
    count_segment_gone(segment);
    device.used -= segment.size;
    by_number_.erase(segment.number);
  }
  heaps_.remove_if([&](const Heap& each) { return &each == heap; });
}

std::pair<std::uint64_t, std::uint64_t> ReferenceModel::memory_info() {
  const std::uint64_t native = device.capacity - device.used - device.taken;
  words_[BasisWord::driver_free_bytes] = native;
  words_[BasisWord::driver_total_bytes] = device.capacity;
  words_[BasisWord::driver_info_time_ns] = TestClock::kEpoch + device.now_ns;
  std::uint64_t vacant = 0;
  for (const Heap& heap : heaps_) {
    for (const Segment& segment : heap.segments) {
      const bool live = std::any_of(segment.blocks.begin(), segment.blocks.end(),
                                    [](const Block& block) { return block.state == State::Live; });
      vacant += is_serving(&heap) && !segment.passed_through && !live ? segment.size : 0;
    }
  }
  const std::uint64_t reserved = all(Name::ReservedBytes).current;
  const std::uint64_t total = limit_ ? std::min(device.capacity, limit_->count()) : device.capacity;
  std::uint64_t free = native;
  if (limit_) {
    free = std::min(free, limit_->count() > reserved ? limit_->count() - reserved : 0);
  }
  return {std::min(free + vacant, total), total};
}

}  // namespace tidemark::test
