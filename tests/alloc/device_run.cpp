#include "tests/alloc/device_run.hpp"

#include <algorithm>

#include "shared/segment/counter_list.hpp"
#include "shared/segment/derive.hpp"
#include "tests/support/test_clock.hpp"

namespace tidemark::test {

namespace {

using alloc::ContextId;
using alloc::DevicePtr;

constexpr std::uint64_t kAllocateNs = 100;
constexpr std::uint64_t kReleaseNs = 1000;
constexpr std::uint64_t kWaitNs = 600;  // long enough for each to be timed
constexpr std::uint64_t kFillNs = 50;

// Apart from each other, and not on a boundary of the map's granules.
constexpr std::uint64_t base_of_device(unsigned number) { return 0x7000'0000'0000U + number * 0x100'0008'0000U; }
constexpr std::uint64_t first_context(unsigned number) { return 1 + number * 1'000'000'000ULL; }

}  // namespace

DeviceRun::DeviceRun(const RunSetup& setup, unsigned number, alloc::SegmentMap& map)
    : map_(map),
      device_(setup.capacity, base_of_device(number)),
      model_(setup.policy, ModelDevice{.capacity = setup.capacity.count(),
                                       .has_fences = setup.fences,
                                       .now_ns = TestClock::now(),
                                       .allocate_ns = kAllocateNs,
                                       .release_ns = kReleaseNs,
                                       .wait_ns = kWaitNs,
                                       .fill_ns = kFillNs}),
      cache_(device_, &sink_, map_, setup.policy, setup.capacity, TestClock::clock()),
      contexts_{ContextId{first_context(number)}, ContextId{first_context(number) + 1},
                ContextId{first_context(number) + 2}},
      next_context_(first_context(number) + kContexts) {
  device_.support_fences(setup.fences);
  device_.before_allocate = [] { TestClock::advance(kAllocateNs); };
  device_.before_release = [] { TestClock::advance(kReleaseNs); };
  device_.before_wait = [] { TestClock::advance(kWaitNs); };
  device_.before_fill = [] { TestClock::advance(kFillNs); };
}

void DeviceRun::keep_time() { model_.device.now_ns = TestClock::now(); }

void DeviceRun::set_capturing(bool capturing) {
  if (capturing != model_.device.capturing) {
    model_.device.capturing = capturing;
    capturing ? device_.begin_capture() : device_.end_capture();
  }
}

void DeviceRun::allocate(ContextId context, std::uint64_t size) {
  const Result<ModelAddress> expected = model_.allocate(context, size);
  const Result<DevicePtr> seen = cache_.allocate(context, Bytes{size});
  if (expected.ok() != seen.ok()) {
    expect(false, expected.ok() ? "refused what the model gives" : "gave what the model refuses");
    return;
  }
  if (!expected.ok()) {
    expect(expected.error().code == seen.error().code, "another error than the model's");
    return;
  }
  if (model_.was_fresh()) {
    base_of_[expected.value().segment] = seen.value().address();
  }
  const std::uint64_t place = base_of_[expected.value().segment] + expected.value().offset;
  expect(place == seen.value().address(), "another block than the model's");
  live_.push_back(
      {.ptr = seen.value(), .address = expected.value(), .context = context, .requested = size, .beat = beat_});
}

Status DeviceRun::released(DevicePtr ptr) {
  alloc::DeviceCache* owner = map_.owner_of(ptr);
  expect(owner == nullptr || owner == &cache_, "another device's cache owns the address");
  return owner == nullptr ? Status{Error{ErrorCode::NotOurs}} : owner->release(ptr);
}

void DeviceRun::release(std::size_t index) {
  const Holding holding = live_[index];
  const auto known = cache_.find(holding.ptr);
  expect(known && known->live && known->context == holding.context && known->requested.count() == holding.requested &&
             known->birth_beat == holding.beat,
         "what is known of a block");
  const Status expected = model_.release(holding.address);
  const Status seen = released(holding.ptr);
  expect(expected.ok() == seen.ok(), "a free that succeeds here and fails there");
  const auto left = cache_.find(holding.ptr);
  const bool refused_by_driver = !expected.ok() && device_.size_at(holding.ptr) && left && left->passed_through;
  const bool refused_outright = !expected.ok() && expected.error().code == ErrorCode::Refused;
  if (!refused_by_driver && !refused_outright) {
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
    freed_.push_back(holding);
  }
}

void DeviceRun::free_all(bool newest_first) {
  for (std::size_t left = live_.size(); left > 0; --left) {
    release(newest_first ? left - 1 : 0);
  }
}

void DeviceRun::try_release(DevicePtr ptr, ModelAddress address, const char* what) {
  const Status expected = model_.release(address);
  const Status seen = released(ptr);
  expect(!expected.ok() && !seen.ok() && expected.error().code == seen.error().code, what);
}

void DeviceRun::free_again(std::uint64_t which) {
  if (freed_.empty()) {
    return;
  }
  const Holding again = freed_[which % freed_.size()];
  const bool held = std::any_of(live_.begin(), live_.end(), [&](const Holding& each) { return each.ptr == again.ptr; });
  if (!held && model_.knows(again.address.segment)) {
    try_release(again.ptr, again.address, "a double free");
  }
}

void DeviceRun::destroy(std::size_t slot, bool succeeds) {
  const ContextId context = contexts_[slot];
  model_.detach(context);
  cache_.detach_context(context);
  if (!succeeds) {
    model_.reattach(context);
    cache_.reattach(context);
    return;
  }
  device_.destroy_context(context);
  model_.forget(context);
  cache_.forget_detached(context);
  std::erase_if(live_, [&](const Holding& holding) { return holding.context == context; });
  std::erase_if(freed_, [&](const Holding& holding) { return holding.context == context; });
  contexts_[slot] = ContextId{next_context_++};
}

void DeviceRun::empty_cache() {
  const Result<std::uint64_t> expected = model_.empty_cache();
  const Result<Bytes> seen = cache_.empty_cache();
  expect(expected.ok() == seen.ok() && (!seen.ok() || seen.value().count() == expected.value()),
         "what emptying gives back");
}

void DeviceRun::ask_for_memory_info(ContextId context) {
  if (model_.device.broken || model_.device.refusing) {
    return;
  }
  const auto [free, total] = model_.memory_info();
  const Result<alloc::MemoryInfo> seen = cache_.memory_info(context);
  expect(seen.ok() && seen.value().free.count() == free && seen.value().total.count() == total,
         "what is said to be free");
}

void DeviceRun::fail(const Command& command) {
  const auto count = static_cast<unsigned>(command.a % 4);
  if (command.op == Op::FailReleases) {
    model_.device.failing_releases = count % 3;
    device_.fail_releases(count % 3);
    return;
  }
  model_.device.failing_allocations = count;
  model_.device.allocation_error = {command.b % 4 == 0 ? ErrorCode::DriverFailure : ErrorCode::OutOfMemory,
                                    kFakeSticky};
  device_.fail_allocations(count, model_.device.allocation_error);
}

void DeviceRun::step(const Command& command) {
  const std::uint64_t a = command.a;
  switch (command.op) {
    case Op::Allocate:
      allocate(contexts_[command.b % kContexts], std::max<std::uint64_t>(a, 1));
      break;
    case Op::Free:
      if (!live_.empty()) {
        release(a % live_.size());
      }
      break;
    case Op::FreeAll:
      free_all(a % 2 == 0);
      break;
    case Op::DoubleFree:
      free_again(a);
      break;
    case Op::InteriorFree:
      if (!live_.empty()) {
        const Holding& holding = live_[a % live_.size()];
        try_release(DevicePtr{holding.ptr.address() + 256}, {holding.address.segment, holding.address.offset + 256},
                    "an interior free");
      }
      break;
    case Op::EmptyCache:
      empty_cache();
      break;
    case Op::ParkEmptyCache:
      model_.park_empty_cache();
      (void)cache_.park_empty_cache();
      break;
    case Op::ResetPeaks:
      model_.reset_peaks();
      cache_.reset_peaks();
      break;
    case Op::ResetPeakSlot:
      model_.reset_peak_slot(static_cast<unsigned>(a % alloc::DeviceCache::kPeakSlots));
      cache_.reset_peak_slot(static_cast<unsigned>(a % alloc::DeviceCache::kPeakSlots));
      break;
    case Op::ResetAccumulated:
      model_.reset_accumulated();
      cache_.reset_accumulated();
      break;
    case Op::SetLimit: {
      const std::optional<Bytes> limit = a == 0 ? std::nullopt : std::optional{Bytes{a}};
      model_.set_limit(limit);
      cache_.set_limit(limit);
      break;
    }
    case Op::SubmitWork:
      ++model_.device.submitted;
      device_.submit_work();
      break;
    case Op::FinishWork:
      model_.device.finished = model_.device.submitted;
      device_.finish_work();
      break;
    case Op::DestroyContext:
      destroy(a % kContexts, true);
      break;
    case Op::FailToDestroyContext:
      destroy(a % kContexts, false);
      break;
    case Op::CountOnly:
      model_.count_only();
      cache_.set_mode(DeviceMode::Count);
      break;
    case Op::StopSubAllocating:
      model_.stop_sub_allocating();
      cache_.stop_sub_allocating();
      break;
    case Op::Pin:
      if (!live_.empty()) {
        const Holding& holding = live_[a % live_.size()];
        model_.pin(holding.address);
        (void)cache_.pin_segment(holding.ptr);
      }
      break;
    case Op::TakeMemory: {
      const std::uint64_t left = model_.device.capacity - model_.device.used - model_.device.taken;
      const std::uint64_t size = std::min(a, left / 2);
      model_.device.taken += size;
      device_.take_memory(Bytes{size});
      break;
    }
    case Op::FailAllocations:
    case Op::FailReleases:
      fail(command);
      break;
    case Op::RefuseCalls:
      model_.device.refusing = a % 2 == 1;
      device_.refuse_calls(a % 2 == 1);
      break;
    case Op::BreakDevice:
      model_.device.broken = Error{ErrorCode::DriverFailure, kFakeSticky};
      device_.break_device();
      break;
    case Op::HealDevice:
      model_.device.broken.reset();
      device_.heal_device();
      break;
    case Op::Beat:
      beat_ = static_cast<std::uint32_t>(a);
      cache_.set_beat(beat_);
      break;
    case Op::MemoryInfo:
      ask_for_memory_info(contexts_[a % kContexts]);
      break;
    case Op::AddKinds:
      kinds_ += a;
      model_.add_other_kinds(a);
      cache_.add_other_kinds(Bytes{a});
      break;
    case Op::RemoveKinds: {
      const std::uint64_t size = std::min(a, kinds_);
      kinds_ -= size;
      model_.remove_other_kinds(size);
      cache_.remove_other_kinds(Bytes{size});
      break;
    }
    case Op::BeginCapture:  // the process's
    case Op::EndCapture:
    case Op::Advance:
    case Op::count_:
      break;
  }
}

std::string DeviceRun::complaint() {
  if (complaint_.empty()) {
    complaint_ = model_.difference(cache_.counters());
  }
  if (complaint_.empty() && !sink_.complaint().empty()) {
    complaint_ = "published: " + sink_.complaint();
  }
  if (complaint_.empty() && model_.device.now_ns != TestClock::now()) {
    complaint_ = "the driver was called more or less often than the model calls it";
  }
  if (complaint_.empty() && model_.device.used != device_.used().count()) {
    complaint_ = "the driver holds " + std::to_string(device_.used().count()) + " B, the model's " +
                 std::to_string(model_.device.used);
  }
  for (const auto& [slot, peaks] : model_.peak_slots()) {
    const alloc::PeakValues seen = cache_.peak_slot(slot);
    expect(peaks == ReferenceModel::SlotPeaks{seen.allocated.count(), seen.reserved.count(), seen.held.count()},
           "the peaks of a control slot");
  }
  const char* broken = cache_.check_invariants();
  expect(broken == nullptr, broken);
  const FakeUpstream::Calls calls = device_.calls();
  expect(calls.fills == model_.device.fills, "more or fewer blocks were filled");
  expect(calls.refused_releases == 0 && calls.helper_calls_in_capture == 0,
         "the driver saw a call that must not reach it");
  return complaint_;
}

std::string DeviceRun::last_complaint() {
  const DeviceBasis basis = cache_.counters();
  const auto keys = segment::counter_list();
  for (std::size_t i = 0; i < keys.size() && complaint_.empty(); ++i) {
    const auto expected = model_.value_of(keys[i].key);
    const std::int64_t seen = segment::stat_value(basis, segment::StatKey{static_cast<std::uint32_t>(i)});
    if (expected != seen) {
      complaint_ = std::string(keys[i].key) + ": " + std::to_string(seen) + ", the model says " +
                   (expected ? std::to_string(*expected) : "that there is no such key");
    }
  }
  return complaint_;
}

}  // namespace tidemark::test
