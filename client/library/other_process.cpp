#include "client/library/other_process.hpp"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "client/library/failure.hpp"
#include "shared/segment/file_handle.hpp"
#include "shared/segment/names.hpp"

namespace tidemark::client {
namespace {

using control::Operation;

constexpr std::chrono::milliseconds kPatience{5000};
constexpr std::chrono::milliseconds kFilePatience{30000};  // large tables are copied and written

DeviceName name_of(const segment::DeviceSnapshot& device) {
  return {.backend = device.info.backend, .ordinal = device.info.ordinal};
}

[[noreturn]] void fail_no_device(const std::vector<segment::DeviceSnapshot>& devices) {
  std::string names;
  for (const segment::DeviceSnapshot& device : devices) {
    names += (names.empty() ? "" : ", ") + to_text(name_of(device));
  }
  throw Failure(TIDEMARK_ERROR_NO_SUCH_DEVICE,
                "the process has no such device; it has " + (names.empty() ? "none yet" : names));
}

void copy_file(const std::string& from, const std::string& to) {
  const segment::FileHandle source{::open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)};
  if (!source) {
    throw system_failure("snapshot", errno);
  }
  const segment::FileHandle copy{::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
  if (!copy) {
    throw system_failure(quoted(to), errno);
  }
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  ssize_t copied = 0;
  do {
    copied = ::sendfile(copy.get(), source.get(), nullptr, kPiece);
  } while (copied > 0 || (copied < 0 && errno == EINTR));
  if (copied < 0) {
    const int number = errno;
    ::unlink(to.c_str());
    throw system_failure(quoted(to), number);
  }
}

}  // namespace

OtherProcess::OtherProcess(segment::SegmentReader reader)
    : reader_(std::move(reader)), was_dead_(!reader_.is_owner_alive()) {}

segment::ProcessState OtherProcess::state() {
  const std::lock_guard lock{mutex_};
  return reader_.state();
}

std::int64_t OtherProcess::pid() {
  const std::lock_guard lock{mutex_};
  return reader_.is_owner_alive() ? reader_.visible_pid() : 0;
}

// Read first, so that what is returned is of a process that still lived afterwards.
std::vector<segment::DeviceSnapshot> OtherProcess::read() {
  const std::lock_guard lock{mutex_};
  std::vector<segment::DeviceSnapshot> devices = reader_.snapshot().devices;
  if (!was_dead_ && !reader_.is_owner_alive()) {
    throw Failure(TIDEMARK_ERROR_GONE, "the process has ended");
  }
  if (reader_.has_shrunk()) {
    throw Failure(TIDEMARK_ERROR_BAD_SEGMENT, reader_.path() + " was cut off");
  }
  return devices;
}

std::vector<DeviceName> OtherProcess::devices() {
  std::vector<DeviceName> names;
  for (const segment::DeviceSnapshot& device : read()) {
    names.push_back(name_of(device));
  }
  return names;
}

segment::DeviceSnapshot OtherProcess::find(const DeviceWord& word) {
  const std::vector<segment::DeviceSnapshot> devices = read();
  if (devices.empty() && word.backend == Backend::Unknown && !word.ordinal) {
    throw Failure(TIDEMARK_ERROR_NOT_INITIALIZED, "the process has no device yet");
  }
  const Backend backend =
      word.backend == Backend::Unknown && !devices.empty() ? devices.front().info.backend : word.backend;
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const segment::DeviceSnapshot& device) {
    return device.info.backend == backend && (!word.ordinal || device.info.ordinal == *word.ordinal);
  });
  if (found == devices.end()) {
    fail_no_device(devices);
  }
  return *found;
}

DeviceBasis OtherProcess::counters(const DeviceWord& word) {
  segment::DeviceSnapshot device = find(word);
  device.basis[BasisWord::capacity_bytes] = device.info.capacity_bytes;
  return device.basis;
}

MemoryFigures OtherProcess::memory_info(const DeviceWord& device) {
  const DeviceBasis basis = counters(device);
  if (basis[BasisWord::driver_info_time_ns] == 0) {
    throw Failure(TIDEMARK_ERROR_UNKNOWN, "the process has not asked its driver for free memory yet");
  }
  return {.free = basis[BasisWord::driver_free_bytes], .total = basis[BasisWord::driver_total_bytes]};
}

std::uint32_t OtherProcess::slot_of(const DeviceWord& device) {
  return device.all ? control::kAllDevices : find(device).slot;
}

void OtherProcess::act(Operation operation, const DeviceWord& device, std::uint64_t argument,
                       std::chrono::milliseconds timeout) {
  const std::uint32_t slot = slot_of(device);
  const std::lock_guard lock{mutex_};
  ask({.operation = operation, .device = slot, .arguments = {argument}}, timeout);
}

void OtherProcess::reset(Reset what, const DeviceWord& device) {
  act(what == Reset::Peaks ? Operation::ResetPeak : Operation::ResetAccumulated, device, 0, kPatience);
}

void OtherProcess::empty_cache(const DeviceWord& device) { act(Operation::EmptyCache, device, 0, kPatience); }

void OtherProcess::set_limit(const DeviceWord& device, std::uint64_t bytes) {
  act(bytes == 0 ? Operation::ClearLimit : Operation::SetLimit, device, bytes, kPatience);
}

// So long only for one that may be at work: whoever stopped it has other things to do than to let it answer.
std::uint32_t OtherProcess::ask_patiently(const control::Order& order) {
  if (reader_.state() == segment::ProcessState::Stopped) {
    throw Failure(TIDEMARK_ERROR_TIMEOUT,
                  "the process is stopped (SIGSTOP or a debugger) and answers nothing until it goes on");
  }
  return ask(order, kFilePatience);
}

void OtherProcess::record(history::Enabled enabled, history::Stacks stacks, std::uint64_t max_entries) {
  const std::lock_guard lock{mutex_};
  ask_patiently({.operation = Operation::RecordStart,
                 .arguments = {static_cast<std::uint64_t>(enabled), static_cast<std::uint64_t>(stacks), max_entries}});
}

void OtherProcess::stop_recording() {
  const std::lock_guard lock{mutex_};
  ask_patiently({.operation = Operation::RecordStop});
}

// The process puts it beside its segment, under the number of the control slot that asked.
void OtherProcess::save_snapshot(const std::string& path) {
  const std::lock_guard lock{mutex_};
  const std::uint32_t slot = ask_patiently({.operation = Operation::Snapshot, .arguments = {1}});
  const std::string made = reader_.path() + std::string{segment::kSnapshotSuffix} + std::to_string(slot);
  try {
    copy_file(made, path);
  } catch (...) {
    ::unlink(made.c_str());
    throw;
  }
  ::unlink(made.c_str());
}

}  // namespace tidemark::client
