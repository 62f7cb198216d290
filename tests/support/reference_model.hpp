// What the allocator must do, written down a second time for clarity alone: lists of lists, searched from the front,
// and PyTorch's statistics as PyTorch describes them (four numbers that are increased and decreased), not as the
// allocator keeps them.
//
// One thread. The model has a device of its own, which behaves as FakeUpstream does; a test makes the same things
// happen to both and compares every counter after every step. Addresses are (segment, offset): a segment's number is
// the how-manieth the driver gave.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/device_basis.hpp"
#include "shared/base/result.hpp"
#include "shim/alloc/device_types.hpp"
#include "shim/alloc/policy.hpp"

namespace tidemark::test {

// The device below, as the test sets it.
struct ModelDevice {
  std::uint64_t capacity = 0;
  std::uint64_t used = 0;
  std::uint64_t taken = 0;
  unsigned failing_allocations = 0;
  Error allocation_error{};
  unsigned failing_releases = 0;
  std::optional<Error> broken{};
  bool capturing = false;
  bool refusing = false;
  bool has_fences = true;
  std::uint64_t submitted = 0;
  std::uint64_t finished = 0;
  // Every driver call takes its time.
  std::uint64_t now_ns = 0;
  std::uint64_t allocate_ns = 0;
  std::uint64_t release_ns = 0;
  std::uint64_t wait_ns = 0;
  std::uint64_t fill_ns = 0;
  unsigned fills = 0;
};

struct ModelStat {
  std::uint64_t current = 0;
  std::uint64_t peak = 0;
  std::uint64_t allocated = 0;
  std::uint64_t freed = 0;

  bool operator==(const ModelStat&) const = default;
  void increase(std::uint64_t by);
  void decrease(std::uint64_t by);
  void undo_decrease(std::uint64_t by);
};

enum class ModelStatName {
  Allocation,
  AllocatedBytes,
  RequestedBytes,
  Active,
  ActiveBytes,
  Segment,
  ReservedBytes,
  InactiveSplit,
  InactiveSplitBytes,
  Count
};

struct ModelAddress {
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;
  auto operator<=>(const ModelAddress&) const = default;
};

class ReferenceModel {
 public:
  ReferenceModel(const alloc::Policy& policy, const ModelDevice& below);

  Result<ModelAddress> allocate(alloc::ContextId context, std::uint64_t requested);
  Status release(ModelAddress address);
  Result<std::uint64_t> empty_cache();
  void park_empty_cache() { parked_ = true; }
  void set_limit(std::optional<Bytes> limit) {
    limit_ = limit;
    note_size();
  }
  void count_only() { counting_ = true; }
  void stop_sub_allocating() { sharing_ = false; }
  void pin(ModelAddress address);
  void detach(alloc::ContextId context);
  void reattach(alloc::ContextId context);
  void forget(alloc::ContextId context);
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> memory_info();
  void add_other_kinds(std::uint64_t size);
  void remove_other_kinds(std::uint64_t size);
  void reset_peaks();
  void reset_accumulated();
  void reset_peak_slot(unsigned slot);

  // Empty, or the first counter of `basis` that is not what the model says.
  [[nodiscard]] std::string difference(const DeviceBasis& basis) const;
  // One of PyTorch's flat keys ("allocation.all.current"); nullopt: no such key.
  [[nodiscard]] std::optional<std::int64_t> value_of(std::string_view key) const;
  // Allocations that were served from what was held already.
  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  // Of the peak slots that were ever reset: allocated, reserved, held.
  using SlotPeaks = std::array<std::uint64_t, 3>;
  [[nodiscard]] const std::map<unsigned, SlotPeaks>& peak_slots() const { return peak_slots_; }
  // Memory that the driver still has given to us.
  [[nodiscard]] bool knows(std::uint64_t segment) const { return by_number_.contains(segment); }
  // Of the last allocation: the driver gave its segment.
  [[nodiscard]] bool was_fresh() const { return fresh_; }

  ModelDevice device;

 private:
  enum class State { Free, Live, Pending };
  struct Segment;
  struct Block {
    Segment* segment;
    std::uint64_t offset;
    std::uint64_t size;
    std::uint64_t requested = 0;
    State state = State::Free;
    std::uint64_t freed_as = 0;  // pending: number of the free
    std::uint64_t born = 0;      // free: requests in its pool when it became so
  };
  using BlockList = std::list<Block>;
  struct Heap;
  struct Segment {
    std::uint64_t number;
    std::uint64_t size;
    Heap* heap;
    bool large;
    bool passed_through;
    bool pinned = false;
    std::uint64_t idle_since_ns = 0;
    BlockList blocks;
  };
  struct Fence {
    std::uint64_t covers;
    std::uint64_t work;
  };
  struct Heap {
    alloc::ContextId context;
    std::list<Segment> segments;                           // newest first
    std::array<std::map<int, std::list<Block*>>, 2> bins;  // last freed first
    std::array<std::uint64_t, 2> requests{};
    std::list<Block*> pending;  // oldest first
    std::list<Fence> fences;
    std::uint64_t fenced = 0;
    unsigned batch_blocks = 0;
    std::uint64_t batch_bytes = 0;
    bool detached = false;
    bool poisoned = false;
  };
  struct GivenBack {
    std::uint64_t bytes = 0;
    Status status;
    bool cut_short = false;
  };
  struct Request {
    std::uint64_t requested;
    std::uint64_t block;
    std::uint64_t segment;
    bool large;
    bool shared;
  };

  // Sizes.
  [[nodiscard]] Request classify(std::uint64_t requested) const;
  [[nodiscard]] bool may_serve(const Block& block, const Request& request) const;
  [[nodiscard]] bool is_split_for(const Block& block, const Request& request) const;
  [[nodiscard]] bool is_oversize(std::uint64_t size) const;

  // Placement.
  [[nodiscard]] Heap* find(alloc::ContextId context);
  Heap& heap_for(alloc::ContextId context);
  [[nodiscard]] std::optional<ModelAddress> search(alloc::ContextId context, const Request& request);
  [[nodiscard]] Block* place(Heap& heap, const Request& request);
  Block& hand_out(Block& block, const Request& request);
  void resize(Block& block, std::uint64_t size);
  void finish_free(Block& block);
  void put_in_bin(Block& block);
  void take_from_bin(Block& block);
  [[nodiscard]] static bool is_whole(const Segment& segment);
  void enter_idle(Segment& segment, std::uint64_t since_ns);
  BlockList::iterator place_in_list(Block& block);

  // The driver.
  Status driver_allocate(std::uint64_t size);
  Status driver_release(std::uint64_t size);
  Status driver_wait();
  void driver_fill(Heap& heap);
  [[nodiscard]] bool fits_limit(std::uint64_t size) const;
  Segment& add_segment(Heap& heap, const Request& request, std::uint64_t size, bool passed_through);

  // Steps of an allocation.
  Result<ModelAddress> find_or_make(alloc::ContextId context, const Request& request);
  Result<ModelAddress> grow(alloc::ContextId context, const Request& request);
  Result<ModelAddress> pass_through(alloc::ContextId context, const Request& request);
  Result<ModelAddress> pass_through_or_make_room(alloc::ContextId context, const Request& request);
  Result<ModelAddress> fail(alloc::ContextId context, const Request& request, Error error);
  Result<bool> settle(alloc::ContextId context);
  Result<bool> poll_fences(Heap& heap);
  Result<bool> wait_for_frees(Heap& heap);
  Status record_fence(Heap& heap);
  bool pass(Heap& heap, std::uint64_t order);
  void poison(Heap& heap);
  template <class Choose>
  GivenBack give_back(bool may_wait, Choose choose);
  GivenBack flush();
  [[nodiscard]] bool has_more_to_give_back(const GivenBack& last);
  // Serving, and nothing in it is live.
  [[nodiscard]] bool is_vacant(const Segment& segment) const;
  // The first vacant one with a free that still waits.
  [[nodiscard]] Segment* given_up();
  void let_pass(Segment& segment);
  bool make_room(alloc::ContextId context, const Request& request);
  bool give_back_oversize(alloc::ContextId context, const Request& request);
  void tidy(bool may_wait, bool looks_at_the_time = true);
  [[nodiscard]] bool is_known_idle() const;
  // By so much more, of which the program would use so much.
  [[nodiscard]] bool is_past_growth_bound(std::uint64_t segment, std::uint64_t block);
  void note_size();
  [[nodiscard]] Segment* most_dispensable_idle();
  [[nodiscard]] Segment* next_to_tidy(bool looks_at_the_time);
  [[nodiscard]] bool is_serving(const Heap* heap) const {
    return heap != nullptr && !heap->detached && !heap->poisoned;
  }

  // Statistics.
  using StatArray = std::array<ModelStat, 3>;  // all, small, large
  void increase(ModelStatName name, bool large, std::uint64_t by);
  void decrease(ModelStatName name, bool large, std::uint64_t by);
  void undo_decrease(ModelStatName name, bool large, std::uint64_t by);
  void change(ModelStatName name, bool large, std::int64_t by);
  void count_handed_out(const Block& block, bool again);
  void count_free_begun(const Block& block);
  void count_free_undone(const Block& block);
  void count_free_done(const Block& block);
  void count_segment(const Segment& segment, bool again);
  void count_segment_gone(const Segment& segment);
  void see_held();
  void see_peak(std::size_t which, std::uint64_t value);  // of SlotPeaks
  [[nodiscard]] const ModelStat& all(ModelStatName name) const { return stats_[static_cast<std::size_t>(name)][0]; }
  [[nodiscard]] std::uint64_t pinned_bytes() const;
  [[nodiscard]] std::uint64_t largest_free_block(const Heap* heap) const;

  const alloc::Policy policy_;
  std::optional<Bytes> limit_;
  bool counting_;
  bool sharing_ = true;
  bool parked_ = false;
  bool overgrown_ = false;
  bool is_too_large_ = false;  // as of the last look: frees look again
  bool fences_work_ = true;
  bool fresh_ = false;
  std::uint64_t next_segment_ = 0;
  std::uint64_t frees_ = 0;
  std::list<Heap> heaps_;     // newest first
  std::list<Segment*> idle_;  // oldest first
  std::map<std::uint64_t, Segment*> by_number_;

  std::array<StatArray, static_cast<std::size_t>(ModelStatName::Count)> stats_{};
  ModelStat oversize_blocks_;
  ModelStat oversize_segments_;
  ModelStat held_;
  std::uint64_t other_kinds_ = 0;
  std::uint64_t peak_active_ever_ = 0;
  std::uint64_t hits_ = 0;
  SlotPeaks lifetime_peaks_{};
  std::map<unsigned, SlotPeaks> peak_slots_;
  DeviceBasis words_;  // what is simply counted or set; the other words stay 0
};

}  // namespace tidemark::test
