// The model's statistics beside the allocator's words.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "tests/support/reference_model.hpp"

namespace tidemark::test {

using Name = ModelStatName;

namespace {

// Names are put together only where there is something to say: this runs a hundred times after every command.
class Comparison {
 public:
  void expect(std::initializer_list<const char*> name, std::uint64_t model, std::uint64_t allocator) {
    if (model == allocator || !text.empty()) {
      return;
    }
    for (const char* part : name) {
      text += part;
    }
    text += ": " + std::to_string(allocator) + ", the model says " + std::to_string(model);
  }
  void expect(std::initializer_list<const char*> name, const ModelStat& model, const ModelStat& allocator) {
    if (model == allocator || !text.empty()) {
      return;
    }
    const auto expect_field = [&](const char* field, std::uint64_t ModelStat::*number) {
      std::string whole;
      for (const char* part : name) {
        whole += part;
      }
      expect({whole.c_str(), field}, model.*number, allocator.*number);
    };
    expect_field(".current", &ModelStat::current);
    expect_field(".peak", &ModelStat::peak);
    expect_field(".allocated", &ModelStat::allocated);
    expect_field(".freed", &ModelStat::freed);
  }
  std::string text;
};

constexpr std::array kNames = {"allocation",     "allocated_bytes", "requested_bytes",
                               "active",         "active_bytes",    "segment",
                               "reserved_bytes", "inactive_split",  "inactive_split_bytes"};
constexpr std::array kPools = {".all", ".small_pool", ".large_pool"};

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

ModelStat oversize_stat(const DeviceBasis& basis, BasisWord current, BasisWord peak, BasisWord total, BasisWord base) {
  return {.current = basis[current],
          .peak = basis[peak],
          .allocated = basis[total],
          .freed = basis[total] - basis[current] + basis[base]};
}

// What is simply counted or set.
constexpr std::array kPlainWords = {
#define X(name) std::pair{#name, BasisWord::name},
    X(misses) X(passed_through) X(alloc_retries) X(ooms) X(sync_all_streams) X(device_allocs) X(device_frees)
        X(free_wait_ns) X(driver_ns) X(peak_reset_time_ns) X(accumulated_reset_time_ns) X(peak_resets) X(max_split_size)
            X(capacity_bytes) X(driver_free_bytes) X(driver_total_bytes) X(driver_info_time_ns) X(oom_count_lifetime)
                X(limit_rejections_lifetime) X(oom_time_ns) X(oom_requested_bytes) X(oom_allocated_bytes)
                    X(oom_reserved_bytes) X(oom_held_bytes) X(oom_device_free_bytes) X(oom_device_total_bytes)
                        X(oom_largest_free_block_bytes)
#undef X
};

}  // namespace

std::string ReferenceModel::difference(const DeviceBasis& basis) const {
  Comparison comparison;
  for (std::size_t name = 0; name < stats_.size(); ++name) {
    for (std::size_t pool = 0; pool < 2; ++pool) {
      comparison.expect({kNames[name], kPools[pool + 1]}, stats_[name][pool + 1], stat_of(basis, name, pool));
    }
    comparison.expect({kNames[name], ".all.peak"}, stats_[name][0].peak,
                      basis.words[index_of(BasisWord::peak_all_allocation) + name]);
  }
  comparison.expect({"oversize_allocations"}, oversize_blocks_,
                    oversize_stat(basis, BasisWord::oversize_blocks, BasisWord::peak_oversize_blocks,
                                  BasisWord::oversize_blocks_total, BasisWord::base_oversize_blocks));
  comparison.expect({"oversize_segments"}, oversize_segments_,
                    oversize_stat(basis, BasisWord::oversize_segments, BasisWord::peak_oversize_segments,
                                  BasisWord::oversize_segments_total, BasisWord::base_oversize_segments));
  comparison.expect({"held.current"}, held_.current, basis[BasisWord::held_bytes]);
  comparison.expect({"held.peak"}, held_.peak, basis[BasisWord::held_peak_bytes]);
  comparison.expect({"lifetime allocated"}, lifetime_peaks_[0], basis[BasisWord::lifetime_peak_allocated_bytes]);
  comparison.expect({"lifetime reserved"}, lifetime_peaks_[1], basis[BasisWord::lifetime_peak_reserved_bytes]);
  comparison.expect({"lifetime held"}, lifetime_peaks_[2], basis[BasisWord::lifetime_peak_held_bytes]);
  comparison.expect({"pinned"}, pinned_bytes(), basis[BasisWord::pinned_bytes]);
  comparison.expect({"limit"}, limit_ ? limit_->count() : 0, basis[BasisWord::limit_bytes]);
  const bool poisoned = std::any_of(heaps_.begin(), heaps_.end(), [](const Heap& heap) { return heap.poisoned; });
  const DeviceMode mode = poisoned ? DeviceMode::PassThrough : counting_ ? DeviceMode::Count : DeviceMode::Cache;
  comparison.expect({"mode"}, static_cast<std::uint64_t>(mode), basis[BasisWord::mode]);
  comparison.expect({"hits"}, hits_,
                    basis[BasisWord::small_allocations_total] + basis[BasisWord::large_allocations_total] -
                        basis[BasisWord::misses] - basis[BasisWord::passed_through]);
  for (const auto& [name, word] : kPlainWords) {
    comparison.expect({name}, words_[word], basis[word]);
  }
  return comparison.text;
}

std::optional<std::int64_t> ReferenceModel::value_of(std::string_view key) const {
  const auto field_of = [](const ModelStat& stat, std::string_view field) -> std::optional<std::int64_t> {
    const std::uint64_t* number = field == ".current"     ? &stat.current
                                  : field == ".peak"      ? &stat.peak
                                  : field == ".allocated" ? &stat.allocated
                                  : field == ".freed"     ? &stat.freed
                                                          : nullptr;
    return number == nullptr ? std::nullopt : std::optional{static_cast<std::int64_t>(*number)};
  };
  for (std::size_t name = 0; name < stats_.size(); ++name) {
    for (std::size_t pool = 0; pool < kPools.size(); ++pool) {
      const std::string prefix = std::string(kNames[name]) + kPools[pool];
      if (key.starts_with(prefix)) {
        return field_of(stats_[name][pool], key.substr(prefix.size()));
      }
    }
  }
  const struct {
    std::string_view prefix;
    const ModelStat& stat;
  } oversize[] = {{"oversize_allocations", oversize_blocks_}, {"oversize_segments", oversize_segments_}};
  for (const auto& [prefix, stat] : oversize) {
    if (key.starts_with(prefix)) {
      return field_of(stat, key.substr(prefix.size()));
    }
  }
  const struct {
    std::string_view key;
    BasisWord word;
  } plain[] = {{"max_split_size", BasisWord::max_split_size},
               {"num_alloc_retries", BasisWord::alloc_retries},
               {"num_device_alloc", BasisWord::device_allocs},
               {"num_device_free", BasisWord::device_frees},
               {"num_ooms", BasisWord::ooms},
               {"num_sync_all_streams", BasisWord::sync_all_streams}};
  for (const auto& [name, word] : plain) {
    if (key == name) {
      return static_cast<std::int64_t>(words_[word]);
    }
  }
  return std::nullopt;
}

}  // namespace tidemark::test
