#include "shim/runtime/program_api.hpp"

#include <cerrno>
#include <cstring>

#include "shared/base/scratch.hpp"
#include "shared/history/words.hpp"
#include "shared/segment/text.hpp"
#include "shim/hook/reentry_guard.hpp"
#include "shim/runtime/out_of_memory_observers.hpp"
#include "shim/runtime/runtime.hpp"

namespace tidemark::runtime {
namespace {

std::int32_t code_of(Error error) noexcept {
  switch (error.code) {
    case ErrorCode::Busy:
    case ErrorCode::Refused:
      return kShimBusy;
    case ErrorCode::Unsupported:
      return kShimUnsupported;
    case ErrorCode::NoSpace:
      return kShimNoSpace;
    case ErrorCode::NotFound:
    case ErrorCode::PermissionDenied:
    case ErrorCode::System:
      errno = error.native;
      return kShimSystem;
    default:
      return kShimDriverFailed;
  }
}

std::int32_t code_of(const Status& status) noexcept { return status ? kShimOk : code_of(status.error()); }

bool is_meant(const ServedDevice& device, ShimDevice wanted) noexcept {
  const bool is_mtia = device.key().layer == Layer::Mtia;
  return device.key().ordinal == wanted.ordinal &&
         wanted.backend == static_cast<std::uint32_t>(is_mtia ? segment::Backend::Mtia : segment::Backend::Cuda);
}

// act(Runtime&, ServedDevice&) for each device of that name: more than one only where CUDA is met at two layers. The
// first answer that is no success.
template <class Act>
std::int32_t with_devices(ShimDevice wanted, Act&& act) noexcept {
  Runtime* const runtime = runtime_if_built();
  if (runtime == nullptr) {
    return kShimNoDevice;
  }
  const hook::CancellationAway cancellation;
  std::int32_t code = kShimNoDevice;
  runtime->for_each_device([&](ServedDevice& device) {
    if (is_meant(device, wanted) && (code == kShimOk || code == kShimNoDevice)) {
      code = act(*runtime, device);
    }
  });
  return code;
}

// The first of that name.
template <class Act>
std::int32_t with_device(ShimDevice wanted, Act&& act) noexcept {
  bool is_done = false;
  return with_devices(wanted, [&](Runtime& runtime, ServedDevice& device) {
    const std::int32_t code = is_done ? kShimOk : act(runtime, device);
    is_done = true;
    return code;
  });
}

std::int32_t is_served() noexcept { return build_runtime() != nullptr ? kShimOk : kShimNotServed; }

std::int32_t devices(ShimDevice* found, std::uint32_t room) noexcept {
  Runtime* const runtime = runtime_if_built();
  std::uint32_t count = 0;
  if (runtime != nullptr) {
    runtime->for_each_device([&](ServedDevice& device) {
      if (count < room) {
        const segment::DeviceInfo& info = device.sink().info();
        found[count] = {.backend = static_cast<std::uint32_t>(info.backend), .ordinal = info.ordinal};
      }
      ++count;
    });
  }
  return static_cast<std::int32_t>(count);
}

void copy_words(const DeviceBasis& basis, std::uint64_t* words) noexcept {
  std::memcpy(words, basis.words.data(), sizeof basis.words);
}

std::int32_t counters(ShimDevice wanted, std::uint64_t* words) noexcept {
  return with_device(wanted, [&](Runtime&, ServedDevice& device) {
    copy_words(device.cache().counters(), words);
    return kShimOk;
  });
}

// As a viewer's reset-peak.
std::int32_t reset_peaks(ShimDevice wanted) noexcept {
  return with_devices(wanted, [](Runtime& runtime, ServedDevice& device) {
    device.cache().reset_peaks();
    if (device.counts_kinds()) {
      runtime.kinds().reset_peaks(runtime.place_of(device));
    }
    return kShimOk;
  });
}

std::int32_t reset_host_peaks() noexcept {
  if (Runtime* const runtime = runtime_if_built(); runtime != nullptr) {
    runtime->kinds().reset_peaks(alloc::KindBooks::kHostPlace);
  }
  return kShimOk;
}

std::int32_t reset_accumulated(ShimDevice wanted) noexcept {
  return with_devices(wanted, [](Runtime&, ServedDevice& device) {
    device.cache().reset_accumulated();
    return kShimOk;
  });
}

// A call of the program's own: the driver may be called here.
std::int32_t empty_cache(ShimDevice wanted) noexcept {
  return with_devices(wanted, [](Runtime&, ServedDevice& device) {
    const Result<Bytes> given_back = device.cache().empty_cache();
    return given_back ? std::int32_t{kShimOk} : code_of(given_back.error());
  });
}

std::int32_t set_limit(ShimDevice wanted, std::uint64_t bytes) noexcept {
  return with_devices(wanted, [bytes](Runtime&, ServedDevice& device) {
    device.cache().set_limit(bytes == 0 ? std::nullopt : std::optional{Bytes{bytes}});
    return kShimOk;
  });
}

std::int32_t record(std::uint32_t enabled, std::uint32_t stacks, std::uint64_t max_entries) noexcept {
  const bool is_known = (enabled == static_cast<std::uint32_t>(history::Enabled::State) ||
                         enabled == static_cast<std::uint32_t>(history::Enabled::All)) &&
                        stacks <= static_cast<std::uint32_t>(history::Stacks::All) &&
                        max_entries <= history::kMostEntries;
  if (!is_known) {
    return kShimInvalid;
  }
  Runtime* const runtime = build_runtime();
  if (runtime == nullptr) {
    return kShimNotServed;
  }
  const hook::CancellationAway cancellation;
  return code_of(runtime->record({.enabled = static_cast<history::Enabled>(enabled),
                                  .stacks = static_cast<history::Stacks>(stacks),
                                  .max_entries = max_entries == 0 ? history::kDefaultEntries : max_entries}));
}

std::int32_t stop_recording() noexcept {
  if (Runtime* const runtime = runtime_if_built(); runtime != nullptr) {
    const hook::CancellationAway cancellation;
    runtime->stop_recording();
  }
  return kShimOk;
}

std::int32_t save_snapshot(const char* path) noexcept {
  Runtime* const runtime = build_runtime();
  if (runtime == nullptr) {
    return kShimNotServed;
  }
  const hook::CancellationAway cancellation;
  const Result<std::uint64_t> saved = runtime->historian().save_snapshot(path, history::Reason::Asked, true);
  return saved ? std::int32_t{kShimOk} : code_of(saved.error());
}

std::int32_t attach_observer(ShimObserver observer, void* data) noexcept {
  if (observer == nullptr) {
    return kShimInvalid;
  }
  return out_of_memory_observers.attach(observer, data) ? kShimOk : kShimBusy;
}

std::int32_t detach_observer(ShimObserver observer, void* data) noexcept {
  return observer != nullptr && out_of_memory_observers.detach(observer, data) ? kShimOk : kShimInvalid;
}

std::int64_t open_phase() noexcept {
  Runtime* const runtime = build_runtime();
  if (runtime == nullptr) {
    return kShimNotServed;
  }
  const std::optional<std::int64_t> phase = runtime->phases().open();
  if (!phase) {
    return kShimBusy;
  }
  const unsigned slot = *runtime->phases().slot_of(*phase);
  runtime->for_each_device([slot](ServedDevice& device) { device.cache().reset_peak_slot(slot); });
  return *phase;
}

std::int32_t close_phase(std::int64_t phase) noexcept {
  Runtime* const runtime = runtime_if_built();
  return runtime != nullptr && runtime->phases().close(phase) ? kShimOk : kShimInvalid;
}

std::int32_t phase_counters(std::int64_t phase, ShimDevice wanted, std::uint64_t* words) noexcept {
  Runtime* const runtime = runtime_if_built();
  const std::optional<unsigned> slot = runtime == nullptr ? std::nullopt : runtime->phases().slot_of(phase);
  if (!slot) {
    return kShimInvalid;
  }
  return with_device(wanted, [&](Runtime&, ServedDevice& device) {
    copy_words(device.cache().counters_since(*slot), words);
    return kShimOk;
  });
}

std::int32_t identity(std::uint64_t* nonce, char* label, std::uint32_t room) noexcept {
  Runtime* const runtime = runtime_if_built();
  const std::optional<std::uint64_t> found = runtime == nullptr ? std::nullopt : runtime->segment_nonce();
  if (!found) {
    return kShimUnsupported;
  }
  *nonce = *found;
  if (room > 0) {
    const std::string_view text = segment::cut_text(runtime->label(), room - 1);
    std::memcpy(label, text.data(), text.size());
    label[text.size()] = '\0';
  }
  return kShimOk;
}

constexpr ShimTable kTable{
    .abi = kShimAbi,
    .bytes = sizeof(ShimTable),
    .basis_words = static_cast<std::uint32_t>(kBasisWords),
    .reserved = 0,
    .is_served = &is_served,
    .devices = &devices,
    .counters = &counters,
    .reset_peaks = &reset_peaks,
    .reset_host_peaks = &reset_host_peaks,
    .reset_accumulated = &reset_accumulated,
    .empty_cache = &empty_cache,
    .set_limit = &set_limit,
    .record = &record,
    .stop_recording = &stop_recording,
    .save_snapshot = &save_snapshot,
    .attach_observer = &attach_observer,
    .detach_observer = &detach_observer,
    .open_phase = &open_phase,
    .close_phase = &close_phase,
    .phase_counters = &phase_counters,
    .identity = &identity,
};

}  // namespace

const ShimTable* shim_table(std::uint32_t abi) noexcept { return abi == kShimAbi ? &kTable : nullptr; }

}  // namespace tidemark::runtime
