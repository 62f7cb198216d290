#include "viewer/export/peak_watch.hpp"

#include <utility>

namespace tidemark::viewer {
namespace {

using control::Operation;
using control::OutcomeKind;

// Why a process can't be asked seldom changes.
constexpr int kRoundsBetweenTries = 10;

// It stays posted however long it takes: what it asks for is never wrong.
control::Order order(Operation operation, std::uint32_t device) {
  return {.operation = operation, .device = device, .may_run_later = true};
}

}  // namespace

bool PeakWatch::open(Watched& watched) {
  for (auto& client : watched.clients) {
    if (client) {
      continue;
    }
    Result<control::ControlClient> opened = control::ControlClient::open(*watched.reader);
    if (!opened) {
      return false;
    }
    client.emplace(std::move(opened).value());
  }
  return true;
}

void PeakWatch::give_up(std::uint64_t nonce, Watched& watched) {
  watched.clients = {};
  watched.has_begun = false;
  watched.phase = Phase::Idle;
  watched.rounds_to_skip = kRoundsBetweenTries;
  unasked_.insert(nonce);
}

void PeakWatch::begin(std::uint64_t nonce, Watched& watched) {
  if (watched.rounds_to_skip > 0) {
    --watched.rounds_to_skip;
    return;
  }
  const std::size_t fresh = watched.has_begun ? 1 - watched.current : watched.current;
  if (!open(watched) || !watched.clients[fresh]->post(order(Operation::BeginPeak, control::kAllDevices))) {
    give_up(nonce, watched);
    return;
  }
  watched.phase = Phase::Beginning;
}

void PeakWatch::begin_round(const View& view) {
  for (auto& [nonce, watched] : watched_) {
    watched.is_seen = false;
  }
  for (const ProcessView& process : view.processes) {
    if (!process.is_alive() || process.devices.empty() || process.reader == nullptr) {
      continue;
    }
    const std::uint64_t nonce = process.snapshot.identity.nonce;
    Watched& watched = watched_[nonce];
    watched.is_seen = true;
    watched.reader = watched.reader == nullptr ? process.reader : watched.reader;
    if (watched.phase != Phase::Idle) {
      continue;
    }
    watched.slots.clear();
    for (const DeviceView& device : process.devices) {
      watched.slots.push_back(device.snapshot.slot);
    }
    begin(nonce, watched);
  }
  std::erase_if(watched_, [&](const auto& entry) {
    if (!entry.second.is_seen) {
      unasked_.erase(entry.first);
    }
    return !entry.second.is_seen;
  });
}

// False: nothing is left to read, or nothing can be.
bool PeakWatch::read_next(Watched& watched) {
  if (watched.next_slot == watched.slots.size()) {
    return false;
  }
  return static_cast<bool>(
      watched.clients[watched.current]->post(order(Operation::ReadPeak, watched.slots[watched.next_slot])));
}

bool PeakWatch::take_answer(std::uint64_t nonce, Watched& watched, const Found& found) {
  const bool is_reading = watched.phase == Phase::Reading;
  const std::size_t asked = is_reading || !watched.has_begun ? watched.current : 1 - watched.current;
  const control::Outcome outcome = watched.clients[asked]->wait(std::chrono::nanoseconds{0});
  switch (outcome.kind) {
    case OutcomeKind::Done:
      break;
    case OutcomeKind::Deferred:
    case OutcomeKind::Indeterminate:
      return false;
    case OutcomeKind::Gone:
      watched.phase = Phase::Idle;
      return true;
    case OutcomeKind::Refused:
    case OutcomeKind::Timeout:
    case OutcomeKind::Closed:
      give_up(nonce, watched);
      return true;
  }
  unasked_.erase(nonce);
  if (is_reading) {
    found(nonce, watched.slots[watched.next_slot], {outcome.results[0], outcome.results[1], outcome.results[2]});
    ++watched.next_slot;
  } else if (!watched.has_begun) {
    watched.has_begun = true;
    watched.phase = Phase::Idle;
    return true;
  } else {
    watched.next_slot = 0;
    watched.phase = Phase::Reading;
  }
  if (!read_next(watched)) {
    watched.current = 1 - watched.current;
    watched.phase = Phase::Idle;
  }
  return true;
}

bool PeakWatch::advance(const Found& found) {
  bool is_waiting = false;
  for (auto& [nonce, watched] : watched_) {
    if (watched.phase != Phase::Idle) {
      (void)take_answer(nonce, watched, found);
      is_waiting |= watched.phase != Phase::Idle;
    }
  }
  return is_waiting;
}

}  // namespace tidemark::viewer
