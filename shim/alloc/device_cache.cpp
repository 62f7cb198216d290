#include "shim/alloc/device_cache.hpp"

namespace tidemark::alloc {
namespace {

PeakValues values_of(const DeviceStats::Peaks& peaks) noexcept {
  const auto bytes = [&peaks](BasisWord peak) { return Bytes{peaks[DeviceStats::place_of(peak)]}; };
  return {.allocated = bytes(BasisWord::peak_all_allocated_bytes),
          .reserved = bytes(BasisWord::peak_all_reserved_bytes),
          .held = bytes(BasisWord::held_peak_bytes)};
}

}  // namespace

static_assert(DeviceCache::kAllPeakSlots == DeviceStats::kSlots);

DeviceCache::DeviceCache(Upstream& upstream, StatsSink* sink, SegmentMap& segments, const Policy& policy,
                         Bytes capacity, Clock clock) noexcept
    : upstream_(upstream),
      sink_(sink),
      map_(segments),
      sizes_(policy),
      policy_(policy),
      clock_(clock),
      max_cached_(policy.max_cached ? policy.max_cached->count() : kUnlimited),
      max_idle_ns_(policy.max_idle_ns.value_or(kUnlimited)),
      has_short_frees_(policy.free_mode == FreeMode::Strict && policy.fill != Fill::Poison),
      mode_(policy.mode),
      limit_(policy.limit ? policy.limit->count() : kUnlimited),
      books_(sizes_, map_) {
  if (const std::optional<unsigned> bit = map_.enroll(*this)) {
    map_bit_ = *bit;
    books_.set_owner_bit(*bit);
  } else {
    attention_ |= kNotEnrolled;
  }
  if (mode_ != DeviceMode::Cache) {
    attention_ |= kNotCaching;
    books_.keep_no_idle();
  }
  if (policy.fill == Fill::Zero) {
    attention_ |= kZeroes;
  }
  DeviceStats& stats = books_.stats();
  stats.set(BasisWord::mode, static_cast<std::uint64_t>(mode_));
  stats.set(BasisWord::limit_bytes, policy.limit.value_or(Bytes{0}).count());
  stats.set(BasisWord::capacity_bytes, capacity.count());
  // -1 in PyTorch's signed counter is "unlimited".
  stats.set(BasisWord::max_split_size, policy.max_split_size ? policy.max_split_size->count() : kUnlimited);
}

DeviceCache::~DeviceCache() {
  if ((attention_ & kNotEnrolled) == 0) {
    map_.resign(map_bit_);
  }
}

// The short paths. Flattened: the steps of DeviceBooks are used in several places, so the compiler would call them one
// by one, which costs as much as they do.

inline std::uint64_t DeviceCache::take_now(ContextId context, const Request& request) noexcept {
  std::uint64_t address = 0;
  lock_.lock();
  if (Heap* const heap = books_.find_heap(context); heap != nullptr) [[likely]] {
    books_.age(*heap, request.pool);
    if (!needs_attention(request) && heap->serves()) [[likely]] {
      if (const BlockIndex block = books_.take(*heap, request); block != 0) [[likely]] {
        address = books_.block(block).address;
        publish();
      }
    }
  }
  lock_.unlock();
  return address;
}

[[gnu::flatten]] Result<DevicePtr> DeviceCache::allocate(ContextId context, Bytes requested) noexcept {
  if (!sizes_.is_plain(requested.count())) [[unlikely]] {
    return allocate_other(context, requested);
  }
  const Request request = sizes_.classify_plain(requested.count());
  if (const std::uint64_t address = take_now(context, request); address != 0) [[likely]] {
    return DevicePtr{address};
  }
  return allocate_slowly(context, request);
}

[[gnu::flatten, gnu::noinline]] Result<DevicePtr> DeviceCache::allocate_other(ContextId context,
                                                                              Bytes requested) noexcept {
  if (requested.count() >= kAbsurdSize) [[unlikely]] {
    return allocate_absurd(context, requested);
  }
  const Request request = sizes_.classify(requested.count());
  if (const std::uint64_t address = take_now(context, request); address != 0) [[likely]] {
    return DevicePtr{address};
  }
  return allocate_slowly(context, request);
}

Status DeviceCache::release_later(DevicePtr ptr, StreamHandle stream) noexcept {
  lock_.lock();
  const BlockIndex index = books_.take_live(ptr);
  if (index == 0) {
    const bool inside = books_.is_inside(ptr);
    lock_.unlock();
    return Error{inside ? ErrorCode::InvalidValue : ErrorCode::NotOurs};
  }
  const Segment& segment = books_.segment_of(index);
  if (segment.passed_through) {
    return release_passed_through(index, stream);
  }
  const ContextId context = segment.context;
  books_.begin_free(index);
  postpones_frees_ = true;
  return postpone_free(index, context, Wait::NotAllowed);
}

[[gnu::flatten]] Status DeviceCache::release(DevicePtr ptr) noexcept {
  lock_.lock();
  const BlockIndex index = books_.take_live(ptr);
  if (index == 0) {
    const bool inside = books_.is_inside(ptr);
    lock_.unlock();
    return Error{inside ? ErrorCode::InvalidValue : ErrorCode::NotOurs};
  }
  const Segment& segment = books_.segment_of(index);
  if (segment.passed_through) {
    return release_passed_through(index);
  }
  const ContextId context = segment.context;
  books_.begin_free(index);
  if (!has_short_frees_) [[unlikely]] {
    return policy_.free_mode == FreeMode::Fast ? postpone_free(index, context, Wait::Allowed)
                                               : release_poisoned(index, context);
  }
  books_.block(index).in_fence = true;
  const std::uint64_t order = books_.newest_free();
  const bool timed = waits_.is_next_timed();
  lock_.unlock();  // published with the end of the free, or by whoever comes in between

  Status done = Error{ErrorCode::Busy};
  LazyTime now{clock_};
  std::uint64_t waited_ns = 0;
  if (upstream_.may_make_helper_calls()) {
    const std::uint64_t begin_ns = timed ? clock_.monotonic_ns() : 0;
    done = upstream_.wait_for_all_work(context);
    waited_ns = timed ? elapsed_ns(begin_ns, now.ns()) : 0;
  }

  lock_.lock();
  if (timed) {
    books_.stats().count(BasisWord::free_wait_ns, waits_.count_for(waited_ns));
  }
  if (!done.ok() || books_.block(index).state == BlockState::Abandoned) {
    return finish_without_fence(index, context, done);
  }
  return complete_free(index, context, order, now);
}

Status DeviceCache::complete_free(BlockIndex index, ContextId context, std::uint64_t order, LazyTime& now) noexcept {
  books_.block(index).in_fence = false;
  Heap* heap = &books_.heap_of(books_.segment_of(index));
  books_.finish_free(index, now);
  if (!heap->gate.empty()) {
    pass_gate(*heap, order, now);  // frees of an earlier capture: this wait covered them
    heap = books_.find_heap(context);
  }
  const bool has_fence = heap != nullptr && heap->gate.has_fence();
  publish();
  const bool untidy = needs_tidying(now);
  lock_.unlock();
  if (has_fence) {
    drop_stale_fences(context, order);
  }
  if (untidy) {
    tidy_up(Wait::Allowed);
  }
  return {};
}

// Settings and counters

void DeviceCache::set_limit(std::optional<Bytes> limit) noexcept {
  const DeviceLockGuard guard(lock_);
  limit_ = limit ? limit->count() : kUnlimited;
  note_size();
  books_.stats().set(BasisWord::limit_bytes, limit.value_or(Bytes{0}).count());
  publish();
}

void DeviceCache::set_mode(DeviceMode mode) noexcept {
  const DeviceLockGuard guard(lock_);
  if (mode <= mode_) {
    return;
  }
  mode_ = mode;
  attention_ |= kNotCaching;
  books_.keep_no_idle();
  publish_mode();
}

void DeviceCache::publish_mode() noexcept {
  const DeviceMode mode = books_.is_any_poisoned() ? DeviceMode::PassThrough : mode_;
  books_.stats().set(BasisWord::mode, static_cast<std::uint64_t>(mode));
  publish();
}

void DeviceCache::stop_sub_allocating() noexcept {
  const DeviceLockGuard guard(lock_);
  attention_ |= kNoSharing;
}

void DeviceCache::reset_peaks() noexcept {
  const std::uint64_t now_ns = clock_.realtime_ns();
  const DeviceLockGuard guard(lock_);
  books_.stats().reset_peaks(now_ns);
  books_.note_peak_reset();
  publish();
}

void DeviceCache::reset_accumulated() noexcept {
  const std::uint64_t now_ns = clock_.realtime_ns();
  const DeviceLockGuard guard(lock_);
  books_.stats().reset_accumulated(now_ns);
  publish();
}

PeakValues DeviceCache::reset_peak_slot(unsigned slot) noexcept {
  const DeviceLockGuard guard(lock_);
  books_.stats().reset_slot(slot);
  return values_of(books_.stats().slot_peaks(slot));
}

PeakValues DeviceCache::peak_slot(unsigned slot) noexcept {
  const DeviceLockGuard guard(lock_);
  return values_of(books_.stats().slot_peaks(slot));
}

PeakValues DeviceCache::end_peak_slot(unsigned slot) noexcept {
  const DeviceLockGuard guard(lock_);
  const PeakValues values = values_of(books_.stats().slot_peaks(slot));
  books_.stats().end_slot(slot);
  return values;
}

DeviceBasis DeviceCache::counters_since(unsigned slot) noexcept {
  const DeviceLockGuard guard(lock_);
  return books_.stats().basis_since(slot);
}

void DeviceCache::add_other_kinds(Bytes size) noexcept {
  const DeviceLockGuard guard(lock_);
  books_.stats().add_other_kinds(size.count());
  publish();
}

void DeviceCache::remove_other_kinds(Bytes size) noexcept {
  const DeviceLockGuard guard(lock_);
  books_.stats().remove_other_kinds(size.count());
  publish();
}

void DeviceCache::set_beat(std::uint32_t beat) noexcept {
  const DeviceLockGuard guard(lock_);
  books_.set_beat(beat);
}

void DeviceCache::set_history(HistorySink* history, BookVisitor* present) noexcept {
  const DeviceLockGuard guard(lock_);
  if (present != nullptr) {
    books_.show_to(*present);
  }
  books_.set_history(history);
}

void DeviceCache::show_to(BookVisitor& visitor) noexcept {
  const DeviceLockGuard guard(lock_);
  books_.show_to(visitor);
}

BookNumbers DeviceCache::numbers() noexcept {
  const DeviceLockGuard guard(lock_);
  return books_.numbers();
}

void DeviceCache::publish_all() noexcept {
  const DeviceLockGuard guard(lock_);
  books_.stats().mark_all_changed();
  publish();
}

DeviceBasis DeviceCache::counters() noexcept {
  const DeviceLockGuard guard(lock_);
  return books_.stats().basis();
}

std::optional<DeviceBasis> DeviceCache::counters_unless_busy() noexcept {
  if (!lock_.try_lock()) {
    return std::nullopt;
  }
  const DeviceBasis basis = books_.stats().basis();
  lock_.unlock();
  return basis;
}

void DeviceCache::set_out_of_memory_observer(OutOfMemoryObserver* observer) noexcept {
  observer_.store(observer, std::memory_order_release);
}

const char* DeviceCache::check_invariants() noexcept {
  const DeviceLockGuard guard(lock_);
  return books_.check();
}

}  // namespace tidemark::alloc
