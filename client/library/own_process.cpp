#include "client/library/own_process.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>

#include "client/library/failure.hpp"
#include "client/library/never_destroyed.hpp"
#include "shared/segment/names.hpp"

namespace tidemark::client {
namespace {

constexpr std::array kBackends = {Backend::Cuda, Backend::Mtia};

// By backend: the process in which init() was called. A forked child has to call it itself.
std::array<std::atomic<pid_t>, 3> initialised_in{};

ShimDevice to_shim(const DeviceName& device) {
  return {.backend = static_cast<std::uint32_t>(device.backend), .ordinal = device.ordinal};
}

std::vector<DeviceName> devices_of(const ShimTable* shim) {
  std::array<ShimDevice, segment::kDeviceSlots> found{};
  const std::int32_t count = shim == nullptr ? 0 : shim->devices(found.data(), found.size());
  std::vector<DeviceName> devices;
  for (std::size_t i = 0; i < found.size() && i < static_cast<std::size_t>(std::max(count, 0)); ++i) {
    const DeviceName device{.backend = static_cast<Backend>(found[i].backend), .ordinal = found[i].ordinal};
    // CUDA met at two layers has two of each.
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
      devices.push_back(device);
    }
  }
  return devices;
}

[[noreturn]] void fail_uninitialised() {
  throw Failure(TIDEMARK_ERROR_NOT_INITIALIZED,
                serving_shim() == nullptr
                    ? "this process does not run under the library; start it with 'tidemark run -- ...'"
                    : "nothing was allocated in this process yet");
}

// Whose driver has a device.
Backend present_backend() {
  const auto present =
      std::find_if(kBackends.begin(), kBackends.end(), [](Backend backend) { return driver_of(backend).count() > 0; });
  if (present == kBackends.end()) {
    throw Failure(TIDEMARK_ERROR_DRIVER, "no device: neither a CUDA nor an MTIA driver has one");
  }
  return *present;
}

// act(shim, device) on the devices meant. Uninitialised: on none; a device that was not used yet has nothing to act on.
template <class Act>
void for_devices(const char* what, const DeviceWord& word, Act&& act) {
  const ShimTable* const shim = serving_shim();
  std::vector<DeviceName> meant;
  if (word.all) {
    meant = devices_of(shim);
  } else if (const DeviceName one = OwnProcess::resolve(word); one.backend != Backend::Unknown) {
    meant.push_back(one);
  }
  for (const DeviceName& device : meant) {
    const std::int32_t code = shim == nullptr ? kShimNoDevice : act(*shim, to_shim(device));
    if (code == kShimNoDevice) {
      (void)untouched(device);
    } else {
      check_shim(what, code);
    }
  }
}

}  // namespace

OwnProcess& own_process() {
  static NeverDestroyed<OwnProcess> own;
  return *own;
}

bool OwnProcess::is_initialized(Backend backend) {
  if (initialised_in[static_cast<std::size_t>(backend)].load() == getpid()) {
    return true;
  }
  const std::vector<DeviceName> used = devices_of(serving_shim());
  return std::any_of(used.begin(), used.end(), [=](const DeviceName& device) { return device.backend == backend; });
}

void OwnProcess::init(Backend backend) {
  driver_of(backend).init();
  initialised_in[static_cast<std::size_t>(backend)].store(getpid());
}

Backend OwnProcess::used_backend() {
  if (const std::vector<DeviceName> used = devices_of(serving_shim()); !used.empty()) {
    return used.front().backend;
  }
  for (const Backend backend : kBackends) {
    if (is_initialized(backend)) {
      return backend;
    }
  }
  for (const Backend backend : kBackends) {
    if (driver_of(backend).is_loaded()) {
      return backend;
    }
  }
  return Backend::Unknown;
}

DeviceName OwnProcess::resolve(const DeviceWord& word) {
  const Backend backend = word.backend == Backend::Unknown ? used_backend() : word.backend;
  if (backend == Backend::Unknown || !is_initialized(backend)) {
    return {};
  }
  return {.backend = backend, .ordinal = word.ordinal ? *word.ordinal : driver_of(backend).current()};
}

DeviceBasis untouched(const DeviceName& device) {
  const std::uint32_t count = driver_of(device.backend).count();
  if (device.ordinal >= count) {
    throw Failure(TIDEMARK_ERROR_NO_SUCH_DEVICE, "there is no " + to_text(device) + "; the driver has " +
                                                     std::to_string(count) + (count == 1 ? " device" : " devices") +
                                                     ", numbered from 0");
  }
  DeviceBasis none;
  none[BasisWord::max_split_size] = std::numeric_limits<std::uint64_t>::max();  // no limit
  return none;
}

std::vector<DeviceName> OwnProcess::devices() { return devices_of(serving_shim()); }

DeviceBasis OwnProcess::counters(const DeviceWord& word) {
  const DeviceName device = resolve(word);
  const ShimTable* const shim = serving_shim();
  if (shim == nullptr || device.backend == Backend::Unknown) {
    fail_uninitialised();
  }
  DeviceBasis basis;
  const std::int32_t code = shim->counters(to_shim(device), basis.words.data());
  if (code == kShimNoDevice) {
    return untouched(device);
  }
  check_shim("counters", code);
  return basis;
}

MemoryFigures OwnProcess::memory_info(const DeviceWord& word) {
  DeviceName device = resolve(word);
  if (device.backend == Backend::Unknown) {
    const Backend backend = word.backend == Backend::Unknown ? present_backend() : word.backend;
    device = {.backend = backend, .ordinal = word.ordinal ? *word.ordinal : driver_of(backend).current()};
  }
  (void)untouched(device);
  return driver_of(device.backend).memory_info(device.ordinal);
}

void OwnProcess::reset(Reset what, const DeviceWord& word) {
  for_devices("reset", word, [what](const ShimTable& shim, ShimDevice device) {
    return what == Reset::Peaks ? shim.reset_peaks(device) : shim.reset_accumulated(device);
  });
  if (const ShimTable* const shim = serving_shim(); shim != nullptr && word.all && what == Reset::Peaks) {
    (void)shim->reset_host_peaks();
  }
}

void OwnProcess::empty_cache(const DeviceWord& word) {
  for_devices("empty_cache", word, [](const ShimTable& shim, ShimDevice device) { return shim.empty_cache(device); });
}

void OwnProcess::set_limit(const DeviceWord& word, std::uint64_t bytes) {
  bool is_set = false;
  for_devices("limit", word, [&](const ShimTable& shim, ShimDevice device) {
    const std::int32_t code = shim.set_limit(device, bytes);
    is_set |= code == kShimOk;
    return code;
  });
  if (!is_set) {  // a limit that would be forgotten is no success
    throw Failure(TIDEMARK_ERROR_NOT_INITIALIZED,
                  "nothing was allocated on this device yet; a limit from the start is 'tidemark run --limit'");
  }
}

void OwnProcess::record(history::Enabled enabled, history::Stacks stacks, std::uint64_t max_entries) {
  const ShimTable* const shim = serving_shim();
  if (shim == nullptr) {
    fail_uninitialised();
  }
  check_shim("record_memory_history",
             shim->record(static_cast<std::uint32_t>(enabled), static_cast<std::uint32_t>(stacks), max_entries));
}

void OwnProcess::stop_recording() {
  if (const ShimTable* const shim = serving_shim(); shim != nullptr) {
    check_shim("record_memory_history", shim->stop_recording());
  }
}

void OwnProcess::save_snapshot(const std::string& path) {
  const ShimTable* const shim = serving_shim();
  if (shim == nullptr) {
    fail_uninitialised();
  }
  check_shim("snapshot " + quoted(path), shim->save_snapshot(path.c_str()));
}

// A library from before there was this entry has a segment all the same, and no word on it.
OwnIdentity OwnProcess::identity() {
  OwnIdentity own;
  const ShimTable* const shim = serving_shim();
  std::uint64_t nonce = 0;
  if (shim != nullptr && shim->bytes > kShimFirstBytes &&
      shim->identity(&nonce, own.label.data(), static_cast<std::uint32_t>(own.label.size())) == kShimOk) {
    segment::id_of(nonce).copy(own.id.data(), own.id.size() - 1);
  }
  return own;
}

}  // namespace tidemark::client
