// Keeps freed device memory of one device and hands it out again; counts everything the program holds on it.
//
// Threads: any, for every function. One lock, never held across an Upstream call; the host's malloc is never called.
// Errors: an Upstream error travels unchanged. NotOurs means: forward the program's call untouched, nothing was changed
// or counted. Memory: place it where it outlives the program's last call (placement new, never destroyed, DESIGN D12).
// The destructor exists for tests: it gives host memory back and leaves device memory alone. Counters: published
// through StatsSink under the lock, once per step of an operation; in each published state active = allocated +
// pending, reserved = active + cached, peak >= current, allocations = hits + misses + passed through.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

#include "shared/base/bytes.hpp"
#include "shared/base/device_basis.hpp"
#include "shared/base/result.hpp"
#include "shim/alloc/clock.hpp"
#include "shim/alloc/device_books.hpp"
#include "shim/alloc/device_lock.hpp"
#include "shim/alloc/device_types.hpp"
#include "shim/alloc/out_of_memory.hpp"
#include "shim/alloc/policy.hpp"
#include "shim/alloc/segment_map.hpp"
#include "shim/alloc/size_policy.hpp"
#include "shim/alloc/stats_sink.hpp"
#include "shim/alloc/thread_annotations.hpp"
#include "shim/alloc/upstream.hpp"
#include "shim/alloc/wait_sampler.hpp"

namespace tidemark::alloc {

// Where an address lies, for decisions about IPC and address ranges.
struct BlockInfo {
  ContextId context{};
  DevicePtr segment;
  Bytes segment_size;
  DevicePtr block;
  Bytes block_size;
  Bytes requested;               // 0 unless live
  std::uint32_t birth_beat = 0;  // when it was handed out, by set_beat(); 0 unless live
  bool live = false;
  bool whole_segment = false;   // the block is all of its segment: a base address, as the native call would give
  bool passed_through = false;  // exactly what the driver gave for exactly this request
  bool pinned = false;
};

struct PeakValues {
  Bytes allocated;
  Bytes reserved;
  Bytes held;
};

class DeviceCache {
 public:
  static constexpr unsigned kPeakSlots = 31;   // one a control slot (DESIGN D14),
  static constexpr unsigned kPhaseSlots = 64;  // and as many phases open at once
  static constexpr unsigned kAllPeakSlots = kPeakSlots + kPhaseSlots;

  // `sink` may be null. `capacity` is the device's memory, 0 if unknown.
  DeviceCache(Upstream& upstream, StatsSink* sink, SegmentMap& segments, const Policy& policy,
              Bytes capacity = Bytes{0}, Clock clock = Clock::system()) noexcept;
  ~DeviceCache();
  DeviceCache(const DeviceCache&) = delete;
  DeviceCache& operator=(const DeviceCache&) = delete;

  // The program's calls.

  // Requires: requested > 0 (what 0 means is the driver's business). NotOurs: the context is being destroyed.
  [[nodiscard]] Result<DevicePtr> allocate(ContextId context, Bytes requested) noexcept;

  // InvalidValue: a double or interior free inside a segment of ours, never to reach the driver. NotOurs: forward.
  // Another error is the fence's or the driver's own: the block is not cached, and its context passes through from then
  // on.
  [[nodiscard]] Status release(DevicePtr ptr) noexcept;

  // The same for a call that never waits natively (cuMemFreeAsync): as with FreeMode::Fast, whatever the policy says.
  [[nodiscard]] Status release_later(DevicePtr ptr, StreamHandle stream) noexcept;

  // What the program shall see: the driver's free memory plus what an allocation could get back from us, under the
  // limit.
  [[nodiscard]] Result<MemoryInfo> memory_info(ContextId context) noexcept;

  // Books memory that the driver handed out in a call of the program's own: allocate()'s pass-through without the
  // driver call. False without host memory: the pointer stays unknown and is forwarded at its free.
  bool adopt_pass_through(ContextId context, DevicePtr ptr, Bytes size) noexcept;
  // The same under the limit, after idle memory was given back for it: OutOfMemory, and the caller has to free it.
  // NotOurs: as above, false.
  [[nodiscard]] Status adopt_within_limit(ContextId context, DevicePtr ptr, Bytes size) noexcept;

  // The inside of a live, free or pending block; nullopt: not ours. A pass-through block is known by its base address
  // only.
  [[nodiscard]] std::optional<BlockInfo> find(DevicePtr ptr) noexcept;

  // Contexts

  // Call before a context is destroyed or a device reset: its addresses stop being ours (frees are NotOurs). Then, by
  // the real call's result, reattach() or forget_detached(). Memory of an unknown context: nothing to do.
  void detach_context(ContextId context) noexcept;
  void reattach(ContextId context) noexcept;
  // Each live block counts as freed and each segment as gone; num_device_free doesn't move, peaks stay.
  void forget_detached(ContextId context) noexcept;

  // Giving memory back

  // Gives every idle segment back to the driver, after a wait for pending frees. Returns what was given back; Busy
  // while a capture is open.
  Result<Bytes> empty_cache() noexcept;

  // The same before a call of the program's is made once more that has just found no memory, also in a capture. Returns
  // whether there is more of it now.
  bool make_room() noexcept;

  // Whether there is anything that empty_cache() could give back, now or when pending frees are done.
  [[nodiscard]] bool has_cached() noexcept;

  // The same, done inside the program's next release() outside a capture, or the next allocate() that finds the device
  // idle, for a thread that may not call the driver. Returns a ticket.
  std::uint64_t park_empty_cache() noexcept;
  [[nodiscard]] bool is_done(std::uint64_t ticket) const noexcept;

  // Settings

  // nullopt: no limit. A limit below what is reserved now is met by later frees, as far as they leave segments idle.
  void set_limit(std::optional<Bytes> limit) noexcept;

  // One way, Cache to Count to PassThrough; a step back is ignored. Live blocks stay ours, freed ones are not handed
  // out again, a segment is really freed with its last block, idle ones at the program's next free outside a capture
  // (or allocation, if the device is idle).
  void set_mode(DeviceMode mode) noexcept;

  // The segment of `ptr` was exported: nothing in it is handed out again, and it is really freed with its last block.
  // NotOurs: nothing to pin (a pass-through block is really freed anyway).
  Status pin_segment(DevicePtr ptr) noexcept;

  // From now on a request that would be cut from a shared segment is passed through (IPC seen). Existing blocks stay.
  void stop_sub_allocating() noexcept;

  // Counters

  void reset_peaks() noexcept;        // every peak := current; lifetime peaks stay
  void reset_accumulated() noexcept;  // totals and event counts := 0

  // A slot's own peaks: begin one now, with these values, and the peaks since then. Requires: slot < kAllPeakSlots.
  PeakValues reset_peak_slot(unsigned slot) noexcept;
  [[nodiscard]] PeakValues peak_slot(unsigned slot) noexcept;
  // The same once more, and then nobody's: slots that are measured cost every begin of another.
  PeakValues end_peak_slot(unsigned slot) noexcept;
  // What counters() would say if reset_peaks() had been called when the slot was begun.
  [[nodiscard]] DeviceBasis counters_since(unsigned slot) noexcept;

  // On-device memory of other kinds (managed, pools, VMM) grew or shrank: part of `held`, never of reserved.
  void add_other_kinds(Bytes size) noexcept;
  void remove_other_kinds(Bytes size) noexcept;

  // The time by which blocks know when they were handed out: the number of the process's last beat, about one a second.
  // A clock would cost each hit 7 ns at least (measured, research on shared memory section 2.3).
  void set_beat(std::uint32_t beat) noexcept;

  // From now on `history` hears of every block and segment; null: nobody does, from this call's return on. What is
  // there now is shown to `present` first, in the same moment; null: it isn't. Both outlive what they are asked.
  void set_history(HistorySink* history, BookVisitor* present) noexcept;
  // Everything that is there, at one moment.
  void show_to(BookVisitor& visitor) noexcept;
  [[nodiscard]] BookNumbers numbers() noexcept;

  // Publishes everything once more, for a sink whose segment came later.
  void publish_all() noexcept;
  [[nodiscard]] DeviceBasis counters() noexcept;
  // The same without a wait; nullopt: somebody is in the middle of a change.
  [[nodiscard]] std::optional<DeviceBasis> counters_unless_busy() noexcept;

  // Null: none. It must outlive the cache.
  void set_out_of_memory_observer(OutOfMemoryObserver* observer) noexcept;

  // Null if all holds, otherwise which rule is broken. Walks everything: for tests and debugging.
  [[nodiscard]] const char* check_invariants() noexcept;

 private:
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  enum class Route { Cached, PassedThrough, Forwarded };
  // A driver's free waits for the device. A native free does, too; a native allocation doesn't, and a program may count
  // on that: a kernel that runs until this very thread says so would never end.
  enum class Wait { Allowed, NotAllowed };
  // Why a call leaves the short path.
  enum Attention : std::uint32_t {
    kParked = 1,       // an empty-cache waits for a call of the program
    kNotCaching = 2,   // the mode
    kNoSharing = 4,    // sub-allocation has ended
    kNotEnrolled = 8,  // no place in the segment map: everything is forwarded
    kTooLarge = 16,    // more is reserved than the limit or the growth gate wants: frees give back
    kZeroes = 32       // blocks are filled when they are handed out
  };
  struct GivenBack {
    std::uint64_t bytes = 0;
    Status status;           // the last failure
    bool waited = false;     // for what other threads were just giving back
    bool cut_short = false;  // the device was at work, and waiting for it not allowed
  };

  // A hit's address, or 0.
  [[nodiscard]] std::uint64_t take_now(ContextId context, const Request& request) noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Result<DevicePtr> allocate_other(ContextId context, Bytes requested) noexcept TIDEMARK_EXCLUDES(lock_);

  // device_cache_allocate.cpp
  [[nodiscard]] Result<DevicePtr> allocate_absurd(ContextId context, Bytes requested) noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Result<DevicePtr> allocate_slowly(ContextId context, const Request& request) noexcept
      TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Result<DevicePtr> find_or_make(ContextId context, const Request& request) noexcept
      TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Route route_of(ContextId context, const Request& request) noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] std::optional<DevicePtr> search(ContextId context, const Request& request) noexcept
      TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Result<DevicePtr> grow(ContextId context, const Request& request) noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Result<DevicePtr> pass_through(ContextId context, const Request& request) noexcept
      TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Result<DevicePtr> pass_through_or_make_room(ContextId context, const Request& request) noexcept
      TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Result<DevicePtr> climb_out_of_memory(ContextId context, const Request& request, Error error) noexcept
      TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Result<DevicePtr> fail(ContextId context, const Request& request, Error error) noexcept
      TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] bool fits_limit(std::uint64_t size) noexcept TIDEMARK_REQUIRES(lock_);
  [[nodiscard]] bool commit(std::uint64_t size) noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] bool needs_attention(const Request& request) const noexcept TIDEMARK_REQUIRES(lock_) {
    return (attention_ & (request.shared ? kParked | kNotCaching | kNoSharing | kNotEnrolled | kZeroes
                                         : kParked | kNotCaching | kNotEnrolled | kZeroes)) != 0;
  }

  // device_cache_reclaim.cpp
  template <class Choose>
  GivenBack give_back(Wait wait, Choose&& choose) noexcept TIDEMARK_EXCLUDES(lock_);
  // And the segments in which nothing is live but frees up to `unproved` are waiting; 0: none of those.
  GivenBack give_back_idle(std::uint64_t unproved) noexcept TIDEMARK_EXCLUDES(lock_);
  GivenBack flush() noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] bool wait_for_releases() noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] bool may_have_something_to_give_back() noexcept TIDEMARK_EXCLUDES(lock_);
  // After a round that gave `last` back.
  [[nodiscard]] bool has_more_to_give_back(const GivenBack& last) noexcept TIDEMARK_EXCLUDES(lock_);
  // Whether nothing that was submitted to the context is unfinished; false also where that can't be told without a
  // wait.
  [[nodiscard]] bool is_idle(ContextId context) noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] bool is_idle_everywhere() noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] bool make_room_to_grow(ContextId context, const Request& request) noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] bool collect_garbage(ContextId context) noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] bool give_back_oversize(ContextId context, const Request& request) noexcept TIDEMARK_EXCLUDES(lock_);
  // Without a known time nothing is too old, and a hit asks no further.
  [[nodiscard]] bool needs_tidying(LazyTime& now) noexcept TIDEMARK_REQUIRES(lock_) {
    if ((attention_ & (kParked | kTooLarge)) != 0) {
      return true;
    }
    const bool can_be_untidy = now.is_known() || max_cached_ != kUnlimited || books_.has_doomed_idle();
    return can_be_untidy && books_.oldest_idle() != 0 && next_to_tidy(now) != 0;
  }
  [[nodiscard]] SegmentIndex next_to_tidy(LazyTime& now) noexcept TIDEMARK_REQUIRES(lock_);
  void tidy_up(Wait wait) noexcept TIDEMARK_EXCLUDES(lock_);
  // More reserved than the growth gate wants, or with a segment for `request`, which may be null.
  [[nodiscard]] bool is_past_growth_bound(const Request* request) noexcept TIDEMARK_REQUIRES(lock_);
  void note_size() noexcept TIDEMARK_REQUIRES(lock_);

  // device_cache_fill.cpp
  void fill(ContextId context, DevicePtr ptr, Bytes size, unsigned char value) noexcept TIDEMARK_EXCLUDES(lock_);
  void zero(ContextId context, DevicePtr ptr, Bytes requested) noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Status release_poisoned(BlockIndex index, ContextId context) noexcept TIDEMARK_RELEASE(lock_);
  // Releases the lock for each fill: references to heaps don't hold.
  bool pass_gate_poisoned(ContextId context, std::uint64_t order) noexcept TIDEMARK_REQUIRES(lock_);

  // device_cache_gate.cpp
  // Every block of the heap that was freed up to `order`; whether there was one. References to heaps don't hold.
  bool pass_gate(Heap& heap, std::uint64_t order, LazyTime& now) noexcept TIDEMARK_REQUIRES(lock_) {
    return policy_.fill == Fill::Poison ? pass_gate_poisoned(heap.context, order) : books_.pass_gate(heap, order, now);
  }
  // A strict free after its wait. The lock is held on entry, released on return.
  [[nodiscard]] Status complete_free(BlockIndex index, ContextId context, std::uint64_t order, LazyTime& now) noexcept
      TIDEMARK_RELEASE(lock_);
  [[nodiscard]] Status release_passed_through(BlockIndex index, std::optional<StreamHandle> later = {}) noexcept
      TIDEMARK_RELEASE(lock_);
  [[nodiscard]] Status postpone_free(BlockIndex index, ContextId context, Wait wait) noexcept TIDEMARK_RELEASE(lock_);
  [[nodiscard]] Status finish_without_fence(BlockIndex index, ContextId context, const Status& done) noexcept
      TIDEMARK_RELEASE(lock_);
  [[nodiscard]] Result<bool> settle(ContextId context) noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Status fence_batch(ContextId context) noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Status record_fence(ContextId context) noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Result<bool> poll_fences(ContextId context) noexcept TIDEMARK_EXCLUDES(lock_);
  [[nodiscard]] Status wait_for_frees(ContextId context, bool& passed) noexcept TIDEMARK_EXCLUDES(lock_);
  void drop_stale_fences(ContextId context, std::uint64_t order) noexcept TIDEMARK_EXCLUDES(lock_);
  // Nothing was done and nothing is wrong: a capture is open, or this thread runs a host function.
  [[nodiscard]] static bool is_put_off(const Error& error) noexcept {
    return error.code == ErrorCode::Busy || error.code == ErrorCode::Refused;
  }
  // An error of the device itself, which every later call would repeat.
  [[nodiscard]] static bool is_sticky(const Error& error) noexcept {
    return !is_put_off(error) && error.code != ErrorCode::Unsupported && error.code != ErrorCode::NotInitialized;
  }
  void poison(ContextId context) noexcept TIDEMARK_REQUIRES(lock_);
  void publish_mode() noexcept TIDEMARK_REQUIRES(lock_);

  void publish() noexcept TIDEMARK_REQUIRES(lock_) { books_.stats().publish(sink_); }

  DeviceLock lock_;
  std::uint32_t attention_ TIDEMARK_GUARDED_BY(lock_) = 0;
  Upstream& upstream_;
  StatsSink* const sink_;
  SegmentMap& map_;
  const SizePolicy sizes_;
  const Policy policy_;
  const Clock clock_;
  const std::uint64_t max_cached_;
  const std::uint64_t max_idle_ns_;
  const bool has_short_frees_;  // strict ones, and nothing to be written into them

  DeviceMode mode_ TIDEMARK_GUARDED_BY(lock_);
  std::uint64_t limit_ TIDEMARK_GUARDED_BY(lock_);
  std::uint64_t committed_bytes_ TIDEMARK_GUARDED_BY(lock_) = 0;   // asked of the driver, not booked yet
  std::uint64_t leaving_bytes_ TIDEMARK_GUARDED_BY(lock_) = 0;     // out of the books, not yet back at the driver
  std::uint32_t leaving_segments_ TIDEMARK_GUARDED_BY(lock_) = 0;  // of them, those the program doesn't know of; and
                                                                   // its freed blocks that are just being filled
  std::atomic<std::uint32_t> releases_{0};              // grows with each that has left; changed under the lock
  bool fences_work_ TIDEMARK_GUARDED_BY(lock_) = true;  // until the backend says Unsupported
  bool overgrown_ TIDEMARK_GUARDED_BY(lock_) = false;   // past the growth gate, because the device was at work
  std::uint64_t parked_tickets_ TIDEMARK_GUARDED_BY(lock_) = 0;
  std::atomic<std::uint64_t> done_tickets_{0};
  bool postpones_frees_ TIDEMARK_GUARDED_BY(lock_) = false;  // Fast, or a free that must not wait was seen
  std::atomic<OutOfMemoryObserver*> observer_{nullptr};
  unsigned map_bit_ = 0;
  WaitSampler waits_ TIDEMARK_GUARDED_BY(lock_);
  DeviceBooks books_ TIDEMARK_GUARDED_BY(lock_);
};

}  // namespace tidemark::alloc
