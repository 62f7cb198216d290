#include "tests/alloc/command_run.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "shim/alloc/device_cache.hpp"
#include "tests/support/counted_sink.hpp"
#include "tests/support/fake_upstream.hpp"
#include "tests/support/reference_model.hpp"
#include "tests/support/test_clock.hpp"

namespace tidemark::test {

namespace {

using alloc::ContextId;
using alloc::DevicePtr;

constexpr std::uint64_t kStart = 1'000'000'000;
constexpr std::uint64_t kAllocateNs = 100;
constexpr std::uint64_t kReleaseNs = 1000;
constexpr std::uint64_t kWaitNs = 600;  // long enough for each to be timed
constexpr std::size_t kContexts = 3;

struct Holding {
  DevicePtr ptr;
  ModelAddress address;
  ContextId context;
};

class Run {
 public:
  explicit Run(const RunSetup& setup)
      : device_(setup.capacity),
        model_(setup.policy, ModelDevice{.capacity = setup.capacity.count(),
                                         .has_fences = setup.fences,
                                         .now_ns = kStart,
                                         .allocate_ns = kAllocateNs,
                                         .release_ns = kReleaseNs,
                                         .wait_ns = kWaitNs}),
        cache_(std::make_unique<alloc::DeviceCache>(device_, &sink_, map_, setup.policy, setup.capacity,
                                                    TestClock::clock())) {
    TestClock::set(kStart);
    device_.support_fences(setup.fences);
    device_.before_allocate = [] { TestClock::advance(kAllocateNs); };
    device_.before_release = [] { TestClock::advance(kReleaseNs); };
    device_.before_wait = [] { TestClock::advance(kWaitNs); };
  }

  void step(const Command& command);
  [[nodiscard]] std::string complaint();

 private:
  void allocate(ContextId context, std::uint64_t size);
  void release(std::size_t index);
  void try_release(DevicePtr ptr, ModelAddress address, const char* what);
  void destroy(std::size_t slot, bool succeeds);
  void expect(bool holds, const std::string& what) {
    if (!holds && complaint_.empty()) {
      complaint_ = what;
    }
  }

  FakeUpstream device_;
  CountedSink sink_;
  alloc::SegmentMap map_;
  ReferenceModel model_;
  std::unique_ptr<alloc::DeviceCache> cache_;
  std::array<ContextId, kContexts> contexts_ = {ContextId{1}, ContextId{2}, ContextId{3}};
  std::uint64_t next_context_ = 4;
  std::vector<Holding> live_;
  std::vector<Holding> freed_;
  std::map<std::uint64_t, std::uint64_t> base_of_;  // by the model's segment number
  std::uint64_t kinds_ = 0;
  std::string complaint_;
};

void Run::allocate(ContextId context, std::uint64_t size) {
  const Result<ModelAddress> expected = model_.allocate(context, size);
  const Result<DevicePtr> seen = cache_->allocate(context, Bytes{size});
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
  live_.push_back({.ptr = seen.value(), .address = expected.value(), .context = context});
}

void Run::release(std::size_t index) {
  const Holding holding = live_[index];
  const Status expected = model_.release(holding.address);
  const Status seen = cache_->release(holding.ptr);
  expect(expected.ok() == seen.ok(), "a free that succeeds here and fails there");
  const bool refused_by_driver = !expected.ok() && device_.size_at(holding.ptr) && cache_->find(holding.ptr) &&
                                 cache_->find(holding.ptr)->passed_through;
  const bool refused_outright = !expected.ok() && expected.error().code == ErrorCode::Refused;
  if (!refused_by_driver && !refused_outright) {
    live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(index));
    freed_.push_back(holding);
  }
}

void Run::try_release(DevicePtr ptr, ModelAddress address, const char* what) {
  const Status expected = model_.release(address);
  const Status seen = cache_->release(ptr);
  expect(!expected.ok() && !seen.ok() && expected.error().code == seen.error().code, what);
}

void Run::destroy(std::size_t slot, bool succeeds) {
  const ContextId context = contexts_[slot];
  model_.detach(context);
  cache_->detach_context(context);
  if (!succeeds) {
    model_.reattach(context);
    cache_->reattach(context);
    return;
  }
  device_.destroy_context(context);
  model_.forget(context);
  cache_->forget_detached(context);
  std::erase_if(live_, [&](const Holding& holding) { return holding.context == context; });
  std::erase_if(freed_, [&](const Holding& holding) { return holding.context == context; });
  contexts_[slot] = ContextId{next_context_++};
}

void Run::step(const Command& command) {
  const std::uint64_t a = command.a;
  const std::uint64_t b = command.b;
  switch (command.op) {
    case Op::Allocate:
      allocate(contexts_[b % kContexts], std::max<std::uint64_t>(a, 1));
      break;
    case Op::Free:
      if (!live_.empty()) {
        release(a % live_.size());
      }
      break;
    case Op::FreeAll:
      for (std::size_t left = live_.size(); left > 0; --left) {
        release(a % 2 == 0 ? left - 1 : 0);
      }
      break;
    case Op::DoubleFree:
      if (!freed_.empty()) {
        const Holding again = freed_[a % freed_.size()];
        const bool held =
            std::any_of(live_.begin(), live_.end(), [&](const Holding& each) { return each.ptr == again.ptr; });
        if (!held && model_.knows(again.address.segment)) {
          try_release(again.ptr, again.address, "a double free");
        }
      }
      break;
    case Op::InteriorFree:
      if (!live_.empty()) {
        const Holding& holding = live_[a % live_.size()];
        try_release(DevicePtr{holding.ptr.address() + 256}, {holding.address.segment, holding.address.offset + 256},
                    "an interior free");
      }
      break;
    case Op::EmptyCache: {
      const Result<std::uint64_t> expected = model_.empty_cache();
      const Result<Bytes> seen = cache_->empty_cache();
      expect(expected.ok() == seen.ok() && (!seen.ok() || seen.value().count() == expected.value()),
             "what emptying gives back");
      break;
    }
    case Op::ParkEmptyCache:
      model_.park_empty_cache();
      (void)cache_->park_empty_cache();
      break;
    case Op::ResetPeaks:
      model_.reset_peaks();
      cache_->reset_peaks();
      break;
    case Op::ResetAccumulated:
      model_.reset_accumulated();
      cache_->reset_accumulated();
      break;
    case Op::SetLimit: {
      const std::optional<Bytes> limit = a == 0 ? std::nullopt : std::optional{Bytes{a}};
      model_.set_limit(limit);
      cache_->set_limit(limit);
      break;
    }
    case Op::BeginCapture:
      if (!model_.device.capturing) {
        model_.device.capturing = true;
        device_.begin_capture();
      }
      break;
    case Op::EndCapture:
      if (model_.device.capturing) {
        model_.device.capturing = false;
        device_.end_capture();
      }
      break;
    case Op::SubmitWork:
      ++model_.device.submitted;
      device_.submit_work();
      break;
    case Op::FinishWork:
      model_.device.finished = model_.device.submitted;
      device_.finish_work();
      break;
    case Op::RefuseCalls:
      model_.device.refusing = a % 2 == 1;
      device_.refuse_calls(a % 2 == 1);
      break;
    case Op::DestroyContext:
      destroy(a % kContexts, true);
      break;
    case Op::FailToDestroyContext:
      destroy(a % kContexts, false);
      break;
    case Op::CountOnly:
      model_.count_only();
      cache_->set_mode(DeviceMode::Count);
      break;
    case Op::StopSubAllocating:
      model_.stop_sub_allocating();
      cache_->stop_sub_allocating();
      break;
    case Op::Pin:
      if (!live_.empty()) {
        const Holding& holding = live_[a % live_.size()];
        model_.pin(holding.address);
        (void)cache_->pin_segment(holding.ptr);
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
      model_.device.failing_allocations = static_cast<unsigned>(a % 4);
      model_.device.allocation_error = {b % 4 == 0 ? ErrorCode::DriverFailure : ErrorCode::OutOfMemory, kFakeSticky};
      device_.fail_allocations(static_cast<unsigned>(a % 4), model_.device.allocation_error);
      break;
    case Op::FailReleases:
      model_.device.failing_releases = static_cast<unsigned>(a % 3);
      device_.fail_releases(static_cast<unsigned>(a % 3));
      break;
    case Op::BreakDevice:
      model_.device.broken = Error{ErrorCode::DriverFailure, kFakeSticky};
      device_.break_device();
      break;
    case Op::HealDevice:
      model_.device.broken.reset();
      device_.heal_device();
      break;
    case Op::Advance:
      model_.device.now_ns += a;
      TestClock::advance(a);
      break;
    case Op::MemoryInfo: {
      if (model_.device.broken || model_.device.refusing) {
        break;
      }
      const auto [free, total] = model_.memory_info();
      const Result<alloc::MemoryInfo> seen = cache_->memory_info(contexts_[a % kContexts]);
      expect(seen.ok() && seen.value().free.count() == free && seen.value().total.count() == total,
             "what is said to be free");
      break;
    }
    case Op::AddKinds:
      kinds_ += a;
      model_.add_other_kinds(a);
      cache_->add_other_kinds(Bytes{a});
      break;
    case Op::RemoveKinds: {
      const std::uint64_t size = std::min(a, kinds_);
      kinds_ -= size;
      model_.remove_other_kinds(size);
      cache_->remove_other_kinds(Bytes{size});
      break;
    }
    case Op::count_:
      break;
  }
}

std::string Run::complaint() {
  if (complaint_.empty()) {
    complaint_ = model_.difference(cache_->counters());
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
  if (const char* broken = cache_->check_invariants(); complaint_.empty() && broken != nullptr) {
    complaint_ = std::string("broken: ") + broken;
  }
  const FakeUpstream::Calls calls = device_.calls();
  if (complaint_.empty() && (calls.refused_releases != 0 || calls.helper_calls_in_capture != 0)) {
    complaint_ = "the driver saw a call that must not reach it";
  }
  return complaint_;
}

}  // namespace

RunResult run_commands(const RunSetup& setup, const std::vector<Command>& commands) {
  Run run{setup};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    run.step(commands[i]);
    if (std::string complaint = run.complaint(); !complaint.empty()) {
      return {.difference = std::move(complaint), .after = i};
    }
  }
  return {};
}

// Leaves out ever smaller pieces for as long as the rest still differs.
std::vector<Command> shrink(const RunSetup& setup, std::vector<Command> commands) {
  commands.resize(std::min(commands.size(), run_commands(setup, commands).after + 1));
  for (std::size_t piece = commands.size() / 2; piece > 0; piece /= 2) {
    for (std::size_t begin = 0; begin + piece <= commands.size();) {
      std::vector<Command> fewer = commands;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(begin),
                  fewer.begin() + static_cast<std::ptrdiff_t>(begin + piece));
      if (run_commands(setup, fewer).difference.empty()) {
        begin += piece;
      } else {
        commands = std::move(fewer);
      }
    }
  }
  return commands;
}

std::string as_source(const std::vector<Command>& commands) {
  constexpr std::array kNames = {
#define X(name) "Op::" #name,
      TIDEMARK_COMMANDS(X)
#undef X
  };
  std::string text = "{";
  for (const Command& command : commands) {
    text += "{" + std::string(kNames[static_cast<std::size_t>(command.op)]) + ", " + std::to_string(command.a) + ", " +
            std::to_string(command.b) + "}, ";
  }
  return text + "}";
}

}  // namespace tidemark::test
