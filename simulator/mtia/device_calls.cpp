// Initialisation, devices, and what concerns a whole device.
#include <algorithm>
#include <cstring>

#include "simulator/mtia/driver.hpp"

using sim::CallScope;
using sim::mtia::Driver;
using sim::mtia::to_result;
using sim::mtia::with_device;
using sim::mtia::with_driver;

namespace {

bool is_device(Driver& driver, int device) { return device >= 0 && device < driver.machine().device_count(); }

}  // namespace

MTIA_EXPORTS_BEGIN

mtiaResult_t mtiaInit(unsigned flags) {
  return with_driver("mtiaInit", [=](Driver&, CallScope& call) {
    call.note("flags=%u", flags);
    return flags == 0 ? MTIA_SUCCESS : MTIA_ERROR_INVALID_VALUE;
  });
}

mtiaResult_t mtiaGetDeviceCount(int* count) {
  return with_driver("mtiaGetDeviceCount", [=](Driver& driver, CallScope&) {
    if (count == nullptr) return MTIA_ERROR_INVALID_VALUE;
    *count = driver.machine().device_count();
    return *count > 0 ? MTIA_SUCCESS : MTIA_ERROR_NO_DEVICE;
  });
}

mtiaResult_t mtiaSetDevice(int device) {
  return with_device("mtiaSetDevice", [=](Driver& driver, CallScope& call) {
    call.note("device=%d", device);
    if (!is_device(driver, device)) return MTIA_ERROR_INVALID_DEVICE;
    driver.set_current_device(device);
    return MTIA_SUCCESS;
  });
}

mtiaResult_t mtiaGetDevice(int* device) {
  return with_device("mtiaGetDevice", [=](Driver& driver, CallScope&) {
    if (device == nullptr) return MTIA_ERROR_INVALID_VALUE;
    *device = driver.current_device();
    return MTIA_SUCCESS;
  });
}

mtiaResult_t mtiaGetDeviceProperties(mtiaDeviceProp* prop, int device) {
  return with_device("mtiaGetDeviceProperties", [=](Driver& driver, CallScope& call) {
    call.note("device=%d", device);
    if (prop == nullptr) return MTIA_ERROR_INVALID_VALUE;
    if (!is_device(driver, device)) return MTIA_ERROR_INVALID_DEVICE;
    const sim::DeviceIdentity& identity = driver.machine().identity(device);
    *prop = mtiaDeviceProp{};
    std::copy_n(identity.name.begin(), std::min(identity.name.size(), sizeof(prop->name) - 1), prop->name);
    std::memcpy(prop->uuid, identity.uuid.data(), sizeof(prop->uuid));
    prop->totalGlobalMem = driver.machine().memory(device).info().total;
    prop->major = 2;
    prop->minor = 0;
    prop->multiProcessorCount = 64;  // the grid of 8 x 8 processing elements
    return MTIA_SUCCESS;
  });
}

mtiaResult_t mtiaDeviceSynchronize(void) {
  return with_device("mtiaDeviceSynchronize", [](Driver& driver, CallScope&) {
    return to_result(driver.machine().synchronize_device(driver.current_device()));
  });
}

mtiaResult_t mtiaDeviceReset(void) {
  return with_device("mtiaDeviceReset",
                     [](Driver& driver, CallScope&) { return to_result(driver.reset(driver.current_device())); });
}

MTIA_EXPORTS_END
