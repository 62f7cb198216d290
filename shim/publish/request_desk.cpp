#include "shim/publish/request_desk.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "shim/publish/mapped_libraries.hpp"
#include "shim/publish/service_thread.hpp"

namespace tidemark::publish {

static_assert(alloc::DeviceCache::kPeakSlots == control::kRequestSlots);

namespace {

using control::Answer;
using control::Operation;
using segment::AckStatus;

Answer answer(AckStatus status, std::string_view detail = {}) noexcept {
  Answer made;
  made.status = status;
  made.detail.assign(detail);
  return made;
}

Answer failure(const char* what, const Error& error) noexcept {
  char text[128];
  if (error.code == ErrorCode::Unsupported) {
    std::snprintf(text, sizeof text, "%s: the process has no segment with a name (TIDEMARK_SHM)", what);
  } else if (error.code == ErrorCode::NoSpace) {
    std::snprintf(text, sizeof text, "%s: it would take more than its share of the free space and memory", what);
  } else {
    std::snprintf(text, sizeof text, "%s: %s", what, std::strerror(error.native));
  }
  return answer(AckStatus::Failed, text);
}

}  // namespace

void RequestDesk::add_device(const ServedDevice& device) noexcept {
  const std::size_t place = count_.load(std::memory_order_relaxed);
  devices_[place] = device;
  count_.store(place + 1, std::memory_order_release);
  device.cache->set_beat(static_cast<std::uint32_t>(last_beat_.load(std::memory_order_relaxed)));
}

void RequestDesk::tell_beat(std::uint64_t number) noexcept {
  last_beat_.store(number, std::memory_order_relaxed);
  for_devices(control::kAllDevices,
              [&](std::size_t, ServedDevice& device) { device.cache->set_beat(static_cast<std::uint32_t>(number)); });
}

// Calls act(index, device) for each device meant by `slot`; returns how many there were.
template <class Act>
std::size_t RequestDesk::for_devices(std::uint32_t slot, Act&& act) noexcept {
  std::size_t met = 0;
  const std::size_t count = count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (slot == control::kAllDevices || devices_[i].sink->slot() == slot) {
      act(i, devices_[i]);
      ++met;
    }
  }
  return met;
}

Answer RequestDesk::handle(const control::Request& request) noexcept {
  std::size_t met = 1;
  Answer made = answer(AckStatus::Done);
  switch (request.operation) {
    case Operation::Nop:
    case Operation::Ping:
      break;
    case Operation::ResetPeak:
      return reset_peaks(request.device);
    case Operation::ResetAccumulated:
      met = for_devices(request.device, [](std::size_t, ServedDevice& device) { device.cache->reset_accumulated(); });
      break;
    case Operation::EmptyCache:
      return empty_cache(request);
    case Operation::SetLimit:
      if (request.arguments[0] == 0) {
        return answer(AckStatus::Invalid, "a limit of 0 would refuse everything");
      }
      met = for_devices(request.device, [&](std::size_t, ServedDevice& device) {
        device.cache->set_limit(Bytes{request.arguments[0]});
      });
      break;
    case Operation::ClearLimit:
      met =
          for_devices(request.device, [](std::size_t, ServedDevice& device) { device.cache->set_limit(std::nullopt); });
      break;
    case Operation::RecordStart:
      return start_recording(request);
    case Operation::RecordStop:
      made.results[0] = historian_.stop() ? 1 : 0;
      break;
    case Operation::Snapshot:
      return save_snapshot(request);
    case Operation::BeginPeak:
      met = for_devices(request.device,
                        [&](std::size_t, ServedDevice& device) { device.cache->reset_peak_slot(request.slot); });
      break;
    case Operation::ReadPeak:
      return read_peak(request);
  }
  return met > 0 ? made : answer(AckStatus::Invalid, "no such device in this process");
}

Answer RequestDesk::reset_peaks(std::uint32_t slot) noexcept {
  Answer made = answer(AckStatus::Done);
  const auto add_peaks = [&made](const DeviceBasis& basis, std::size_t first) {
    made.results[first] += basis[BasisWord::peak_all_allocated_bytes];
    made.results[first + 2] += basis[BasisWord::peak_all_reserved_bytes];
  };
  alloc::KindBooks* const kinds = kinds_.load(std::memory_order_acquire);
  const std::size_t met = for_devices(slot, [&](std::size_t, ServedDevice& device) {
    add_peaks(device.cache->counters(), 0);
    device.cache->reset_peaks();
    if (kinds != nullptr && device.counts_kinds) {
      kinds->reset_peaks(device.place);
    }
    add_peaks(device.cache->counters(), 1);
  });
  const bool is_for_all = slot == control::kAllDevices;
  if (is_for_all && kinds != nullptr) {
    kinds->reset_peaks(alloc::KindBooks::kHostPlace);
  }
  return met > 0 || is_for_all ? made : answer(AckStatus::Invalid, "no such device in this process");
}

// Devices are all recorded or none, as in PyTorch.
Answer RequestDesk::start_recording(const control::Request& request) noexcept {
  const std::uint64_t entries = request.arguments[2] == 0 ? history::kDefaultEntries : request.arguments[2];
  const bool is_known = (request.arguments[0] == static_cast<std::uint64_t>(history::Enabled::State) ||
                         request.arguments[0] == static_cast<std::uint64_t>(history::Enabled::All)) &&
                        request.arguments[1] <= static_cast<std::uint64_t>(history::Stacks::All);
  if (!is_known || entries > history::kMostEntries) {
    return answer(AckStatus::Invalid, "no such thing to record");
  }
  const history::Settings wanted{.enabled = static_cast<history::Enabled>(request.arguments[0]),
                                 .stacks = static_cast<history::Stacks>(request.arguments[1]),
                                 .max_entries = entries};
  const Result<std::uint64_t> started = historian_.start(wanted);
  if (!started) {
    return failure("not recorded", started.error());
  }
  Answer made = answer(AckStatus::Done);
  made.results[0] = started.value();
  return made;
}

Answer RequestDesk::save_snapshot(const control::Request& request) noexcept {
  const Result<std::uint64_t> saved = historian_.save_snapshot_for(request.slot, request.arguments[0] != 0);
  if (!saved) {
    return failure("no snapshot", saved.error());
  }
  Answer made = answer(AckStatus::Done);
  made.results[0] = saved.value();
  return made;
}

// A device that came after the slot's BeginPeak has counted for every slot from its beginning.
Answer RequestDesk::read_peak(const control::Request& request) noexcept {
  if (request.device == control::kAllDevices) {
    return answer(AckStatus::Invalid, "peaks of several devices have no sum");
  }
  Answer made = answer(AckStatus::Done);
  const std::size_t met = for_devices(request.device, [&](std::size_t, ServedDevice& device) {
    const alloc::PeakValues peaks = device.cache->peak_slot(request.slot);
    made.results = {peaks.allocated.count(), peaks.reserved.count(), peaks.held.count()};
  });
  return met > 0 ? made : answer(AckStatus::Invalid, "no such device in this process");
}

Answer RequestDesk::empty_cache(const control::Request& request) noexcept {
  const bool wants_now = request.arguments[0] == 1;
  const char* collective = wants_now ? find_collective_library() : nullptr;
  Deferred deferred{.is_used = true, .request = request};
  bool is_for_thread = false;
  bool is_empty = true;
  const std::size_t met = for_devices(request.device, [&](std::size_t index, ServedDevice& device) {
    if (!device.cache->has_cached()) {
      return;
    }
    is_empty = false;
    const bool may_thread = device.has_background_driver_calls || (wants_now && collective == nullptr);
    deferred.is_for_thread[index] = host_ != nullptr && may_thread;
    is_for_thread |= deferred.is_for_thread[index];
    if (!deferred.is_for_thread[index]) {
      deferred.tickets[index] = device.cache->park_empty_cache();
    }
  });
  if (met == 0) {
    return answer(AckStatus::Invalid, "no such device in this process");
  }
  if (is_empty) {
    return answer(AckStatus::Done);
  }
  const std::lock_guard lock{deferred_mutex_};
  const auto place = std::find_if(deferred_.begin(), deferred_.end(), [](const Deferred& d) { return !d.is_used; });
  if (place == deferred_.end()) {
    return answer(AckStatus::Refused, "too many requests are waiting already");
  }
  *place = deferred;
  deferred_count_.fetch_add(1, std::memory_order_release);
  if (is_for_thread && !has_thread_) {
    has_thread_ = start_thread(&work_in_thread, this);
    if (!has_thread_) {
      leave_to_program(*place);
    }
  }
  if (is_for_thread && has_thread_) {
    return answer(AckStatus::Deferred, "under way; a free waits for the device");
  }
  char text[128];
  std::snprintf(text, sizeof text,
                "done in the program's next allocation or free, where the driver may be called%s%s%s",
                collective != nullptr ? "; not at once because " : "", collective != nullptr ? collective : "",
                collective != nullptr ? " is loaded" : "");
  return answer(AckStatus::Deferred, text);
}

void RequestDesk::leave_to_program(Deferred& deferred) noexcept {
  for (std::size_t i = 0; i < kMostDevices; ++i) {
    if (deferred.is_for_thread[i]) {
      deferred.is_for_thread[i] = false;
      deferred.tickets[i] = devices_[i].cache->park_empty_cache();
    }
  }
}

RequestDesk::Task RequestDesk::next_task() noexcept {
  for (Deferred& deferred : deferred_) {
    for (std::size_t i = 0; deferred.is_used && i < kMostDevices; ++i) {
      if (deferred.is_for_thread[i]) {
        return {.deferred = &deferred, .device = i};
      }
    }
  }
  return {};
}

void* RequestDesk::work_in_thread(void* argument) noexcept {
  auto& desk = *static_cast<RequestDesk*>(argument);
  for (;;) {
    Task task;
    {
      const std::lock_guard lock{desk.deferred_mutex_};
      task = desk.next_task();
      if (task.deferred == nullptr) {
        desk.has_thread_ = false;
        return nullptr;
      }
    }
    const auto given_back = desk.devices_[task.device].cache->empty_cache();
    {
      // The place is this request's until its last task is done.
      const std::lock_guard lock{desk.deferred_mutex_};
      Deferred& deferred = *task.deferred;
      deferred.is_for_thread[task.device] = false;
      if (given_back) {
        deferred.given_back += given_back.value().count();
      } else {
        deferred.tickets[task.device] = desk.devices_[task.device].cache->park_empty_cache();
      }
    }
    desk.settle_deferred(*desk.host_);
  }
}

bool RequestDesk::is_finished(const Deferred& deferred) const noexcept {
  for (std::size_t i = 0; i < kMostDevices; ++i) {
    const std::uint64_t ticket = deferred.tickets[i];
    if (deferred.is_for_thread[i] || (ticket != 0 && !devices_[i].cache->is_done(ticket))) {
      return false;
    }
  }
  return true;
}

void RequestDesk::settle_deferred(control::ControlHost& host) noexcept {
  if (!deferred_mutex_.try_lock()) {
    return;
  }
  const std::lock_guard lock{deferred_mutex_, std::adopt_lock};
  for (Deferred& deferred : deferred_) {
    if (deferred.is_used && is_finished(deferred)) {
      deferred.is_used = false;
      deferred_count_.fetch_sub(1, std::memory_order_release);
      Answer made = answer(AckStatus::Done);
      made.results[0] = deferred.given_back;
      host.complete(deferred.request, made);
    }
  }
}

}  // namespace tidemark::publish
