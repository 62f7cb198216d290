#include "shim/backend/mtia_backend.hpp"

#include <cstring>

#include "shim/backend/mtia_symbols.hpp"
#include "shim/hook/reentry_guard.hpp"

namespace tidemark::backend {
namespace {

Status to_status(mtiaResult_t code) noexcept {
  switch (code) {
    case MTIA_SUCCESS:
      return {};
    case MTIA_ERROR_OUT_OF_MEMORY:
      return Error{ErrorCode::OutOfMemory, code};
    case MTIA_ERROR_INVALID_VALUE:
      return Error{ErrorCode::InvalidValue, code};
    case MTIA_ERROR_NOT_INITIALIZED:
    case MTIA_ERROR_DEINITIALIZED:
      return Error{ErrorCode::NotInitialized, code};
    case MTIA_ERROR_NOT_SUPPORTED:
      return Error{ErrorCode::Refused, code};  // what every call gets inside a host function
    default:
      return Error{ErrorCode::DriverFailure, code};
  }
}

// Makes `device` the thread's device while it lives; the thread's own comes back on every way out.
class DeviceScope {
 public:
  explicit DeviceScope(int device) noexcept {
    const mtiaResult_t got = real_mtia().mtiaGetDevice(&outer_);
    if (got == MTIA_SUCCESS && outer_ != device) {
      status_ = to_status(real_mtia().mtiaSetDevice(device));
      changed_ = status_.ok();
    } else {
      status_ = to_status(got);
    }
  }
  ~DeviceScope() {
    if (changed_) {
      (void)real_mtia().mtiaSetDevice(outer_);
    }
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

  [[nodiscard]] const Status& status() const noexcept { return status_; }

 private:
  int outer_ = 0;
  bool changed_ = false;
  Status status_;
};

}  // namespace

mtiaResult_t to_mtia(Error error) noexcept {
  if (error.native != 0) {
    return static_cast<mtiaResult_t>(error.native);
  }
  switch (error.code) {
    case ErrorCode::OutOfMemory:
      return MTIA_ERROR_OUT_OF_MEMORY;
    case ErrorCode::InvalidValue:
    case ErrorCode::NotOurs:
      return MTIA_ERROR_INVALID_VALUE;
    case ErrorCode::NotInitialized:
      return MTIA_ERROR_NOT_INITIALIZED;
    default:
      return MTIA_ERROR_UNKNOWN;
  }
}

Result<alloc::DevicePtr> MtiaUpstream::allocate(alloc::ContextId, Bytes size) noexcept {
  const hook::DriverCallScope scope_of_call;
  const DeviceScope scope{device_};
  if (!scope.status().ok()) {
    return scope.status().error();
  }
  void* ptr = nullptr;
  const Status status = to_status(real_mtia().mtiaMalloc(&ptr, size.count()));
  if (!status.ok()) {
    return status.error();
  }
  return alloc::DevicePtr{reinterpret_cast<std::uint64_t>(ptr)};
}

Status MtiaUpstream::release(alloc::ContextId, alloc::DevicePtr ptr) noexcept {
  const hook::DriverCallScope scope_of_call;
  return to_status(real_mtia().mtiaFree(reinterpret_cast<void*>(ptr.address())));
}

Status MtiaUpstream::wait_for_all_work(alloc::ContextId) noexcept {
  const hook::DriverCallScope scope_of_call;
  const DeviceScope scope{device_};
  return scope.status().ok() ? to_status(real_mtia().mtiaDeviceSynchronize()) : scope.status();
}

// On a stream of its own: the default stream would wait for the program's work, and have it wait in turn.
Status MtiaUpstream::fill(alloc::ContextId, alloc::DevicePtr ptr, Bytes size, unsigned char value) noexcept {
  const hook::DriverCallScope scope_of_call;
  const DeviceScope scope{device_};
  if (!scope.status().ok()) {
    return scope.status();
  }
  mtiaStream_t stream = nullptr;
  if (const mtiaResult_t made = real_mtia().mtiaStreamCreate(&stream); made != MTIA_SUCCESS) {
    return to_status(made);
  }
  const mtiaResult_t started =
      real_mtia().mtiaMemsetAsync(reinterpret_cast<void*>(ptr.address()), value, size.count(), stream);
  const mtiaResult_t done = real_mtia().mtiaStreamSynchronize(stream);
  (void)real_mtia().mtiaStreamDestroy(stream);
  return to_status(started == MTIA_SUCCESS ? done : started);
}

bool MtiaUpstream::can_fill() const noexcept {
  return real_mtia().mtiaStreamCreate.exists() && real_mtia().mtiaMemsetAsync.exists() &&
         real_mtia().mtiaStreamSynchronize.exists() && real_mtia().mtiaStreamDestroy.exists();
}

Result<alloc::MemoryInfo> MtiaUpstream::memory_info(alloc::ContextId) noexcept {
  const hook::DriverCallScope scope_of_call;
  const DeviceScope scope{device_};
  if (!scope.status().ok()) {
    return scope.status().error();
  }
  std::size_t free = 0;
  std::size_t total = 0;
  const Status status = to_status(real_mtia().mtiaMemGetInfo(&free, &total));
  if (!status.ok()) {
    return status.error();
  }
  return alloc::MemoryInfo{.free = Bytes{free}, .total = Bytes{total}};
}

std::optional<int> current_mtia_device() noexcept {
  int device = 0;
  return real_mtia().mtiaGetDevice(&device) == MTIA_SUCCESS ? std::optional{device} : std::nullopt;
}

DeviceIdentity describe_mtia_device(int device) noexcept {
  mtia_library.anchor.keep();
  DeviceIdentity identity;
  mtiaDeviceProp properties{};
  if (real_mtia().mtiaGetDeviceProperties(&properties, device) == MTIA_SUCCESS) {
    std::memcpy(identity.uuid.data(), properties.uuid, identity.uuid.size());
    identity.set_name(properties.name);
    identity.capacity = Bytes{properties.totalGlobalMem};
  }
  return identity;
}

}  // namespace tidemark::backend
