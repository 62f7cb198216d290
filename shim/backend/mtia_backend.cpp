#include "shim/backend/mtia_backend.hpp"

#include <cstring>

#include "shim/backend/mtia_symbols.hpp"
#include "shim/backend/unasked.hpp"
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

// A question of ours, put once more if it fails.
template <class Ask>
mtiaResult_t asked(Ask&& ask) noexcept {
  const mtiaResult_t code = ask();
  return code == MTIA_SUCCESS ? code : ask();
}

// Makes `device` the thread's device while it lives; the thread's own comes back on every way out.
class DeviceScope {
 public:
  explicit DeviceScope(int device) noexcept {
    mtiaResult_t code = asked([&] { return real_mtia().mtiaGetDevice(&outer_); });
    if (code == MTIA_SUCCESS && outer_ != device) {
      code = asked([&] { return real_mtia().mtiaSetDevice(device); });
      changed_ = code == MTIA_SUCCESS;
    }
    if (code != MTIA_SUCCESS) {
      status_ = unasked(to_status(code));
    }
  }
  ~DeviceScope() {
    if (changed_) {
      (void)asked([&] { return real_mtia().mtiaSetDevice(outer_); });
    }
  }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

  // Otherwise the thread is where it was: right for an allocation, which is for the device that the program is on.
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
  if (const mtiaResult_t made = asked([&] { return real_mtia().mtiaStreamCreate(&stream); }); made != MTIA_SUCCESS) {
    return unasked(to_status(made));
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
  return asked([&] { return real_mtia().mtiaGetDevice(&device); }) == MTIA_SUCCESS ? std::optional{device}
                                                                                   : std::nullopt;
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
