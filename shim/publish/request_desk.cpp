#include "shim/publish/request_desk.hpp"

#include <algorithm>
#include <cstdio>

#include "shim/publish/mapped_libraries.hpp"

namespace tidemark::publish {
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

Answer answer_not_available(Operation operation) noexcept {
  char text[96];
  std::snprintf(text, sizeof text, "%s is not available in this version of the library", control::to_text(operation));
  return answer(AckStatus::Refused, text);
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
    case Operation::RecordStop:
    case Operation::Snapshot:
      return answer_not_available(request.operation);
  }
  return met > 0 ? made : answer(AckStatus::Invalid, "no such device in this process");
}

Answer RequestDesk::reset_peaks(std::uint32_t slot) noexcept {
  Answer made = answer(AckStatus::Done);
  const auto add_peaks = [&made](const DeviceBasis& basis, std::size_t first) {
    made.results[first] += basis[BasisWord::peak_all_allocated_bytes];
    made.results[first + 2] += basis[BasisWord::peak_all_reserved_bytes];
  };
  const std::size_t met = for_devices(slot, [&](std::size_t, ServedDevice& device) {
    add_peaks(device.cache->counters(), 0);
    device.cache->reset_peaks();
    add_peaks(device.cache->counters(), 1);
  });
  return met > 0 ? made : answer(AckStatus::Invalid, "no such device in this process");
}

Answer RequestDesk::empty_cache(const control::Request& request) noexcept {
  const bool wants_now = request.arguments[0] == 1;
  const char* collective = wants_now ? find_collective_library() : nullptr;
  Answer made = answer(AckStatus::Done);
  Deferred deferred{.is_used = true, .request = request, .tickets = {}};
  bool must_wait = false;
  const std::size_t met = for_devices(request.device, [&](std::size_t index, ServedDevice& device) {
    if (device.has_background_driver_calls || (wants_now && collective == nullptr)) {
      if (const auto given_back = device.cache->empty_cache()) {
        made.results[0] += given_back.value().count();
        return;
      }
    }
    deferred.tickets[index] = device.cache->park_empty_cache();
    must_wait = true;
  });
  if (met == 0) {
    return answer(AckStatus::Invalid, "no such device in this process");
  }
  if (!must_wait) {
    return made;
  }
  const std::lock_guard lock{deferred_mutex_};
  const auto place = std::find_if(deferred_.begin(), deferred_.end(), [](const Deferred& d) { return !d.is_used; });
  if (place == deferred_.end()) {
    return answer(AckStatus::Refused, "too many requests are waiting for the program already");
  }
  *place = deferred;
  deferred_count_.fetch_add(1, std::memory_order_release);
  made.status = AckStatus::Deferred;
  char text[128];
  if (collective != nullptr) {
    std::snprintf(text, sizeof text, "done in the program's next allocation or free; not at once because %s is loaded",
                  collective);
    made.detail.assign(text);
  } else {
    made.detail.assign("done in the program's next allocation or free, where the driver may be called");
  }
  return made;
}

bool RequestDesk::is_finished(const Deferred& deferred) const noexcept {
  for (std::size_t i = 0; i < deferred.tickets.size(); ++i) {
    if (deferred.tickets[i] != 0 && !devices_[i].cache->is_done(deferred.tickets[i])) {
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
      host.complete(deferred.request, answer(AckStatus::Done));
    }
  }
}

}  // namespace tidemark::publish
