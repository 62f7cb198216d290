// The model's statistics, and their comparison with the allocator's words.
#include <algorithm>

#include "tests/support/reference_model.hpp"
#include "tests/support/test_clock.hpp"

namespace tidemark::test {

using Name = ModelStatName;

void ModelStat::increase(std::uint64_t by) {
  current += by;
  allocated += by;
  peak = std::max(peak, current);
}

void ModelStat::decrease(std::uint64_t by) {
  current -= by;
  freed += by;
}

void ModelStat::undo_decrease(std::uint64_t by) {
  current += by;
  freed -= by;
  peak = std::max(peak, current);
}

void ReferenceModel::increase(Name name, bool large, std::uint64_t by) {
  StatArray& array = stats_[static_cast<std::size_t>(name)];
  array[0].increase(by);
  array[large ? 2 : 1].increase(by);
}

void ReferenceModel::decrease(Name name, bool large, std::uint64_t by) {
  StatArray& array = stats_[static_cast<std::size_t>(name)];
  array[0].decrease(by);
  array[large ? 2 : 1].decrease(by);
}

void ReferenceModel::undo_decrease(Name name, bool large, std::uint64_t by) {
  StatArray& array = stats_[static_cast<std::size_t>(name)];
  array[0].undo_decrease(by);
  array[large ? 2 : 1].undo_decrease(by);
}

void ReferenceModel::change(Name name, bool large, std::int64_t by) {
  if (by > 0) {
    increase(name, large, static_cast<std::uint64_t>(by));
  } else {
    decrease(name, large, static_cast<std::uint64_t>(-by));
  }
}

// PyTorch's table: which event moves which statistic.
void ReferenceModel::count_handed_out(const Block& block, bool again) {
  const bool large = block.segment->large;
  const auto more = again ? &ReferenceModel::undo_decrease : &ReferenceModel::increase;
  (this->*more)(Name::Allocation, large, 1);
  (this->*more)(Name::AllocatedBytes, large, block.size);
  (this->*more)(Name::Active, large, 1);
  (this->*more)(Name::ActiveBytes, large, block.size);
  (this->*more)(Name::RequestedBytes, large, block.requested);
  if (is_oversize(block.size)) {
    again ? oversize_blocks_.undo_decrease(1) : oversize_blocks_.increase(1);
  }
  peak_active_ever_ = std::max(peak_active_ever_, all(Name::ActiveBytes).current);
  lifetime_peaks_[0] = std::max(lifetime_peaks_[0], all(Name::AllocatedBytes).current);
}

void ReferenceModel::count_free_begun(const Block& block) {
  decrease(Name::Allocation, block.segment->large, 1);
  decrease(Name::AllocatedBytes, block.segment->large, block.size);
  if (is_oversize(block.size)) {
    oversize_blocks_.decrease(1);
  }
}

void ReferenceModel::count_free_undone(const Block& block) {
  const bool large = block.segment->large;
  undo_decrease(Name::Allocation, large, 1);
  undo_decrease(Name::AllocatedBytes, large, block.size);
  if (is_oversize(block.size)) {
    oversize_blocks_.undo_decrease(1);
  }
}

void ReferenceModel::count_free_done(const Block& block) {
  decrease(Name::Active, block.segment->large, 1);
  decrease(Name::ActiveBytes, block.segment->large, block.size);
  decrease(Name::RequestedBytes, block.segment->large, block.requested);
}

void ReferenceModel::count_segment(const Segment& segment, bool again) {
  const auto more = again ? &ReferenceModel::undo_decrease : &ReferenceModel::increase;
  (this->*more)(Name::Segment, segment.large, 1);
  (this->*more)(Name::ReservedBytes, segment.large, segment.size);
  if (is_oversize(segment.size)) {
    again ? oversize_segments_.undo_decrease(1) : oversize_segments_.increase(1);
  }
  lifetime_peaks_[1] = std::max(lifetime_peaks_[1], all(Name::ReservedBytes).current);
  see_held();
}

void ReferenceModel::count_segment_gone(const Segment& segment) {
  decrease(Name::Segment, segment.large, 1);
  decrease(Name::ReservedBytes, segment.large, segment.size);
  if (is_oversize(segment.size)) {
    oversize_segments_.decrease(1);
  }
  see_held();
}

void ReferenceModel::see_held() {
  held_.current = all(Name::ReservedBytes).current + other_kinds_;
  held_.peak = std::max(held_.peak, held_.current);
  lifetime_peaks_[2] = std::max(lifetime_peaks_[2], held_.current);
}

void ReferenceModel::add_other_kinds(std::uint64_t size) {
  other_kinds_ += size;
  see_held();
}

void ReferenceModel::remove_other_kinds(std::uint64_t size) {
  other_kinds_ -= size;
  see_held();
}

void ReferenceModel::reset_peaks() {
  for (StatArray& array : stats_) {
    for (ModelStat& stat : array) {
      stat.peak = stat.current;
    }
  }
  for (ModelStat* stat : {&oversize_blocks_, &oversize_segments_, &held_}) {
    stat->peak = stat->current;
  }
  words_[BasisWord::peak_reset_time_ns] = TestClock::kEpoch + device.now_ns;
  ++words_[BasisWord::peak_resets];
}

void ReferenceModel::reset_accumulated() {
  for (StatArray& array : stats_) {
    for (ModelStat& stat : array) {
      stat.allocated = stat.freed = 0;
    }
  }
  for (ModelStat* stat : {&oversize_blocks_, &oversize_segments_}) {
    stat->allocated = stat->freed = 0;
  }
  for (const BasisWord event : {BasisWord::misses, BasisWord::passed_through, BasisWord::alloc_retries, BasisWord::ooms,
                                BasisWord::sync_all_streams, BasisWord::device_allocs, BasisWord::device_frees,
                                BasisWord::free_wait_ns, BasisWord::driver_ns}) {
    words_[event] = 0;
  }
  words_[BasisWord::accumulated_reset_time_ns] = TestClock::kEpoch + device.now_ns;
}

std::uint64_t ReferenceModel::pinned_bytes() const {
  std::uint64_t bytes = 0;
  for (const Heap& heap : heaps_) {
    for (const Segment& segment : heap.segments) {
      for (const Block& block : segment.blocks) {
        bytes += segment.pinned && block.state == State::Free ? block.size : 0;
      }
    }
  }
  return bytes;
}

namespace {

class Comparison {
 public:
  void expect(const std::string& what, std::uint64_t model, std::uint64_t allocator) {
    if (model != allocator && text.empty()) {
      text = what + ": " + std::to_string(allocator) + ", the model says " + std::to_string(model);
    }
  }
  std::string text;
};

constexpr const char* kNames[] = {"allocation",     "allocated_bytes", "requested_bytes",
                                  "active",         "active_bytes",    "segment",
                                  "reserved_bytes", "inactive_split",  "inactive_split_bytes"};

// PyTorch's four numbers from the words of one pool. Independent of what the product derives them with.
ModelStat stat_of(const DeviceBasis& basis, std::size_t name, std::size_t pool) {
  const auto word = [&](BasisWord small) {
    return basis.words[index_of(small) + pool * index_of(BasisWord::large_live_blocks)];
  };
  ModelStat stat;
  switch (static_cast<Name>(name)) {
    case Name::Allocation:
      stat.current = word(BasisWord::small_live_blocks);
      stat.allocated = word(BasisWord::small_allocations_total);
      break;
    case Name::AllocatedBytes:
      stat.current = word(BasisWord::small_live_bytes);
      stat.allocated = word(BasisWord::small_allocated_bytes_total);
      break;
    case Name::RequestedBytes:
      stat.current = word(BasisWord::small_requested_bytes);
      stat.allocated = word(BasisWord::small_requested_bytes_total);
      break;
    case Name::Active:
      stat.current = word(BasisWord::small_live_blocks) + word(BasisWord::small_pending_blocks);
      stat.allocated = word(BasisWord::small_allocations_total);
      break;
    case Name::ActiveBytes:
      stat.current = word(BasisWord::small_live_bytes) + word(BasisWord::small_pending_bytes);
      stat.allocated = word(BasisWord::small_allocated_bytes_total);
      break;
    case Name::Segment:
      stat.current = word(BasisWord::small_segments);
      stat.allocated = word(BasisWord::small_segments_total);
      break;
    case Name::ReservedBytes:
      stat.current = word(BasisWord::small_reserved_bytes);
      stat.allocated = word(BasisWord::small_reserved_bytes_total);
      break;
    case Name::InactiveSplit:
      stat.current = word(BasisWord::small_split_blocks);
      stat.allocated = word(BasisWord::small_split_blocks_total);
      break;
    default:
      stat.current = word(BasisWord::small_split_bytes);
      stat.allocated = word(BasisWord::small_split_bytes_total);
  }
  const std::size_t base = index_of(pool == 0 ? BasisWord::base_small_allocation : BasisWord::base_large_allocation);
  const std::size_t peak = index_of(pool == 0 ? BasisWord::peak_small_allocation : BasisWord::peak_large_allocation);
  stat.freed = stat.allocated - stat.current + basis.words[base + name];
  stat.peak = basis.words[peak + name];
  return stat;
}

}  // namespace

std::string ReferenceModel::difference(const DeviceBasis& basis) const {
  Comparison comparison;
  for (std::size_t name = 0; name < stats_.size(); ++name) {
    for (std::size_t pool = 0; pool < 2; ++pool) {
      const ModelStat& model = stats_[name][pool + 1];
      const ModelStat seen = stat_of(basis, name, pool);
      const std::string key = std::string(kNames[name]) + (pool == 0 ? ".small_pool" : ".large_pool");
      comparison.expect(key + ".current", model.current, seen.current);
      comparison.expect(key + ".peak", model.peak, seen.peak);
      comparison.expect(key + ".allocated", model.allocated, seen.allocated);
      comparison.expect(key + ".freed", model.freed, seen.freed);
    }
    comparison.expect(std::string(kNames[name]) + ".all.peak", stats_[name][0].peak,
                      basis.words[index_of(BasisWord::peak_all_allocation) + name]);
  }
  const auto expect_stat = [&](const std::string& key, const ModelStat& model, BasisWord current, BasisWord total,
                               BasisWord peak, BasisWord base) {
    comparison.expect(key + ".current", model.current, basis[current]);
    comparison.expect(key + ".peak", model.peak, basis[peak]);
    comparison.expect(key + ".allocated", model.allocated, basis[total]);
    comparison.expect(key + ".freed", model.freed, basis[total] - basis[current] + basis[base]);
  };
  expect_stat("oversize_allocations", oversize_blocks_, BasisWord::oversize_blocks, BasisWord::oversize_blocks_total,
              BasisWord::peak_oversize_blocks, BasisWord::base_oversize_blocks);
  expect_stat("oversize_segments", oversize_segments_, BasisWord::oversize_segments, BasisWord::oversize_segments_total,
              BasisWord::peak_oversize_segments, BasisWord::base_oversize_segments);
  comparison.expect("held.current", held_.current, basis[BasisWord::held_bytes]);
  comparison.expect("held.peak", held_.peak, basis[BasisWord::held_peak_bytes]);
  comparison.expect("lifetime allocated", lifetime_peaks_[0], basis[BasisWord::lifetime_peak_allocated_bytes]);
  comparison.expect("lifetime reserved", lifetime_peaks_[1], basis[BasisWord::lifetime_peak_reserved_bytes]);
  comparison.expect("lifetime held", lifetime_peaks_[2], basis[BasisWord::lifetime_peak_held_bytes]);
  comparison.expect("pinned", pinned_bytes(), basis[BasisWord::pinned_bytes]);
  comparison.expect("limit", limit_ ? limit_->count() : 0, basis[BasisWord::limit_bytes]);
  const bool poisoned = std::any_of(heaps_.begin(), heaps_.end(), [](const Heap& heap) { return heap.poisoned; });
  const DeviceMode mode = poisoned ? DeviceMode::PassThrough : counting_ ? DeviceMode::Count : DeviceMode::Cache;
  comparison.expect("mode", static_cast<std::uint64_t>(mode), basis[BasisWord::mode]);
#define X(name)                                                               \
  if (const auto word = words_.find(BasisWord::name); word != words_.end()) { \
    comparison.expect(#name, word->second, basis[BasisWord::name]);           \
  }
  TIDEMARK_BASIS_WORDS(X)
#undef X
  return comparison.text;
}

}  // namespace tidemark::test
