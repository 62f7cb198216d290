// Allocation, copies and fills.
#include <cinttypes>
#include <optional>

#include "simulator/mtia/driver.hpp"

using sim::Address;
using sim::CallScope;
using sim::Place;
using sim::Status;
using sim::StreamId;
using sim::mtia::Driver;
using sim::mtia::to_address;
using sim::mtia::to_pointer;
using sim::mtia::to_result;
using sim::mtia::with_device;

namespace {

// Whether the pointers are what `kind` says they are.
bool agrees(mtiaMemcpyKind kind, const Place& to, const Place& from) {
  const bool to_device = to.device >= 0;
  const bool from_device = from.device >= 0;
  switch (kind) {
    case mtiaMemcpyHostToHost:
      return !to_device && !from_device;
    case mtiaMemcpyHostToDevice:
      return to_device && !from_device;
    case mtiaMemcpyDeviceToHost:
      return !to_device && from_device;
    case mtiaMemcpyDeviceToDevice:
      return to_device && from_device;
    case mtiaMemcpyDefault:
      return true;
  }
  return false;
}

mtiaResult_t copy(Driver& driver, CallScope& call, void* dst, const void* src, size_t count, mtiaMemcpyKind kind,
                  std::optional<StreamId> stream) {
  call.note("dst=%p src=%p count=%zu kind=%d", dst, src, count, static_cast<int>(kind));
  const Place to = driver.machine().place(to_address(dst));
  const Place from = driver.machine().place(to_address(src));
  if (count == 0) return MTIA_SUCCESS;
  if (!agrees(kind, to, from)) return MTIA_ERROR_INVALID_VALUE;
  const bool waits = !stream || to.device < 0;
  if (!stream) {
    const int owner = to.device >= 0 ? to.device : from.device >= 0 ? from.device : driver.current_device();
    // Between two devices the copy runs on the destination's; the source's work comes first all the same.
    if (from.device >= 0 && from.device != owner) {
      if (auto status = driver.machine().synchronize_device(from.device); status != Status::Ok) {
        return to_result(status);
      }
    }
    stream = driver.default_stream(owner);
  }
  const sim::Copy work{.to = to_address(dst), .from = to_address(src), .width = count};
  const Status submitted = driver.machine().submit(*stream, work);
  if (submitted != Status::Ok || !waits) return to_result(submitted);
  return to_result(driver.scheduler().synchronize(*stream));
}

mtiaResult_t set(Driver& driver, CallScope& call, void* ptr, int value, size_t count, StreamId stream) {
  call.note("ptr=%p value=%d count=%zu", ptr, value, count);
  const sim::Fill work{.to = to_address(ptr), .value = static_cast<unsigned char>(value), .width = count};
  return to_result(driver.machine().submit(stream, work));
}

}  // namespace

MTIA_EXPORTS_BEGIN

mtiaResult_t mtiaMalloc(void** ptr, size_t size) {
  return with_device("mtiaMalloc", MTIA_ERROR_OUT_OF_MEMORY, [=](Driver& driver, CallScope& call) {
    call.note("size=%zu", size);
    if (ptr == nullptr) return MTIA_ERROR_INVALID_VALUE;
    if (size == 0) {
      *ptr = nullptr;
      return MTIA_SUCCESS;
    }
    driver.gate().delay_alloc();
    Address address = 0;
    const Status status = driver.machine().allocate(driver.context(driver.current_device()), size, address);
    if (status == Status::Ok) {
      *ptr = to_pointer(address);
      call.note("ptr=%p", *ptr);
    }
    return to_result(status);
  });
}

mtiaResult_t mtiaFree(void* ptr) {
  return with_device("mtiaFree", [=](Driver& driver, CallScope& call) {
    call.note("ptr=%p", ptr);
    if (ptr == nullptr) return MTIA_SUCCESS;
    const Place place = driver.machine().place(to_address(ptr));
    if (!place.live || place.allocation.base != to_address(ptr)) return MTIA_ERROR_INVALID_VALUE;
    const Status waited = driver.machine().synchronize_device(place.device);
    if (waited != Status::Ok) return to_result(waited);
    driver.gate().delay_free();
    return to_result(driver.machine().release(to_address(ptr)));
  });
}

mtiaResult_t mtiaMemGetInfo(size_t* free, size_t* total) {
  return with_device("mtiaMemGetInfo", [=](Driver& driver, CallScope& call) {
    const sim::MemoryInfo info = driver.machine().memory(driver.current_device()).info();
    call.note("free=%" PRIu64 " total=%" PRIu64, info.free, info.total);
    if (free != nullptr) *free = info.free;
    if (total != nullptr) *total = info.total;
    return MTIA_SUCCESS;
  });
}

mtiaResult_t mtiaMemGetAddressRange(void** base, size_t* size, void* ptr) {
  return with_device("mtiaMemGetAddressRange", [=](Driver& driver, CallScope& call) {
    call.note("ptr=%p", ptr);
    const Place place = driver.machine().place(to_address(ptr));
    if (!place.live) return MTIA_ERROR_INVALID_VALUE;
    if (base != nullptr) *base = to_pointer(place.allocation.base);
    if (size != nullptr) *size = place.allocation.size;
    return MTIA_SUCCESS;
  });
}

mtiaResult_t mtiaMemcpy(void* dst, const void* src, size_t count, mtiaMemcpyKind kind) {
  return with_device("mtiaMemcpy", [=](Driver& driver, CallScope& call) {
    return copy(driver, call, dst, src, count, kind, std::nullopt);
  });
}

mtiaResult_t mtiaMemcpyAsync(void* dst, const void* src, size_t count, mtiaMemcpyKind kind, mtiaStream_t stream) {
  return with_device("mtiaMemcpyAsync", [=](Driver& driver, CallScope& call) {
    return copy(driver, call, dst, src, count, kind, driver.stream(stream));
  });
}

mtiaResult_t mtiaMemset(void* ptr, int value, size_t count) {
  return with_device("mtiaMemset", [=](Driver& driver, CallScope& call) {
    const Place place = driver.machine().place(to_address(ptr));
    const int owner = place.device >= 0 ? place.device : driver.current_device();
    return set(driver, call, ptr, value, count, driver.default_stream(owner));
  });
}

mtiaResult_t mtiaMemsetAsync(void* ptr, int value, size_t count, mtiaStream_t stream) {
  return with_device("mtiaMemsetAsync", [=](Driver& driver, CallScope& call) {
    return set(driver, call, ptr, value, count, driver.stream(stream));
  });
}

MTIA_EXPORTS_END
