#include "shim/runtime/mtia_calls.hpp"

#include "shim/backend/mtia_backend.hpp"
#include "shim/backend/mtia_symbols.hpp"
#include "shim/runtime/call_counts.hpp"
#include "shim/runtime/our_failure.hpp"

namespace tidemark::runtime {
namespace {

using backend::real_mtia;

DeviceKey key_of(int device) noexcept { return {.layer = Layer::Mtia, .ordinal = static_cast<std::uint16_t>(device)}; }

}  // namespace

Answer<mtiaResult_t> MtiaCalls::allocate(void** ptr, std::size_t size) noexcept {
  const auto current = ptr == nullptr || size == 0 ? std::nullopt : backend::current_mtia_device();
  if (!current) {
    return std::nullopt;
  }
  ServedDevice* device = runtime_.device(
      key_of(*current),
      [&](ServedDevice::UpstreamPlace& place) -> alloc::Upstream& {
        return place.emplace<backend::MtiaUpstream>(*current);
      },
      [&] { return backend::describe_mtia_device(*current); });
  if (device == nullptr) {
    return std::nullopt;
  }
  const publish::Historian::CallStack stack{runtime_.historian()};
  const auto allocated = device->cache().allocate(device->generation(), Bytes{size});
  if (!allocated) {
    runtime_.after_failure(*device, allocated.error());
    return is_ours_to_hide(allocated.error()) ? Answer<mtiaResult_t>{std::nullopt}
                                              : backend::to_mtia(allocated.error());
  }
  *ptr = reinterpret_cast<void*>(allocated.value().address());
  runtime_.after_success(*device);
  return MTIA_SUCCESS;
}

Answer<mtiaResult_t> MtiaCalls::release(void* ptr) noexcept {
  const alloc::DevicePtr address{reinterpret_cast<std::uint64_t>(ptr)};
  alloc::DeviceCache* cache = runtime_.owner_of(address, Layer::Mtia, 0, [] { return false; });
  if (cache == nullptr) {
    call_counts.foreign_frees.fetch_add(ptr == nullptr ? 0 : 1, std::memory_order_relaxed);
    return std::nullopt;
  }
  const Status released = cache->release(address);
  if (!released.ok()) {
    return is_ours_to_hide(released.error()) ? Answer<mtiaResult_t>{std::nullopt} : backend::to_mtia(released.error());
  }
  runtime_.after_call();
  return MTIA_SUCCESS;
}

Answer<mtiaResult_t> MtiaCalls::memory_info(std::size_t* free, std::size_t* total) noexcept {
  const auto current = free == nullptr || total == nullptr ? std::nullopt : backend::current_mtia_device();
  ServedDevice* device = current ? runtime_.find(key_of(*current)) : nullptr;
  if (device == nullptr) {
    return std::nullopt;
  }
  const auto info = device->cache().memory_info(device->generation());
  if (!info) {
    return is_ours_to_hide(info.error()) ? Answer<mtiaResult_t>{std::nullopt} : backend::to_mtia(info.error());
  }
  *free = info.value().free.count();
  *total = info.value().total.count();
  return MTIA_SUCCESS;
}

// The heap leaves our books before the driver gives its addresses away, and comes back if the driver refuses.
Answer<mtiaResult_t> MtiaCalls::reset_device() noexcept {
  const auto current = backend::current_mtia_device();
  ServedDevice* device = current ? runtime_.find(key_of(*current)) : nullptr;
  if (device == nullptr) {
    return std::nullopt;
  }
  const alloc::ContextId ending = device->generation();
  device->cache().detach_context(ending);
  const mtiaResult_t code = real_mtia().mtiaDeviceReset();
  if (code == MTIA_SUCCESS) {
    device->begin_next_generation();
    device->cache().forget_detached(ending);
  } else {
    device->cache().reattach(ending);
  }
  return code;
}

}  // namespace tidemark::runtime
