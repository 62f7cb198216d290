// tidemark.h: errors, and the devices of the own process.
#include <array>
#include <cstdint>

#include "client/library/failure.hpp"
#include "client/library/own_process.hpp"

using tidemark::client::answered;
using tidemark::client::Backend;
using tidemark::client::driver_of;
using tidemark::client::OwnProcess;
using tidemark::client::read_backend;

extern "C" {

const char* tidemark_error(int64_t code) {
  switch (code) {
    case TIDEMARK_ERROR_INVALID_ARGUMENT:
      return "invalid argument";
    case TIDEMARK_ERROR_NOT_INITIALIZED:
      return "nothing was allocated yet, or the library is not loaded";
    case TIDEMARK_ERROR_NO_SUCH_DEVICE:
      return "no such device";
    case TIDEMARK_ERROR_NO_SUCH_PROCESS:
      return "no such process";
    case TIDEMARK_ERROR_AMBIGUOUS:
      return "several processes have that name";
    case TIDEMARK_ERROR_PERMISSION:
      return "permission denied";
    case TIDEMARK_ERROR_BAD_SEGMENT:
      return "not a usable segment";
    case TIDEMARK_ERROR_WRONG_VERSION:
      return "a segment of another version";
    case TIDEMARK_ERROR_GONE:
      return "the process has ended";
    case TIDEMARK_ERROR_TIMEOUT:
      return "no answer in time";
    case TIDEMARK_ERROR_DEFERRED:
      return "waits for the program's next call";
    case TIDEMARK_ERROR_BUSY:
      return "not now";
    case TIDEMARK_ERROR_UNSUPPORTED:
      return "not possible in this process";
    case TIDEMARK_ERROR_UNKNOWN:
      return "not known";
    case TIDEMARK_ERROR_DRIVER:
      return "the driver is not there, or refused";
    case TIDEMARK_ERROR_NO_SPACE:
      return "no memory or no space";
    case TIDEMARK_ERROR_NO_COMMAND:
      return "the command 'tidemark' was not found, or failed";
    case TIDEMARK_ERROR_SYSTEM:
      return "a system call failed";
    default:
      return code >= 0 ? "success" : "unknown error";
  }
}

const char* tidemark_error_detail(void) { return tidemark::client::last_detail(); }

int tidemark_abi(void) { return TIDEMARK_ABI; }

int tidemark_is_loaded(void) {
  return answered([] { return tidemark::client::serving_shim() != nullptr ? 1 : 0; });
}

int tidemark_is_initialized(const char* backend) {
  return answered([&] { return OwnProcess::is_initialized(read_backend(backend)) ? 1 : 0; });
}

int tidemark_init(const char* backend) {
  return answered([&] {
    OwnProcess::init(read_backend(backend));
    return int{TIDEMARK_OK};
  });
}

int tidemark_device_count(const char* backend) {
  return answered([&] { return static_cast<int>(driver_of(read_backend(backend)).count()); });
}

int tidemark_current_device(const char* backend) {
  return answered([&] { return static_cast<int>(driver_of(read_backend(backend)).current()); });
}

int tidemark_set_device(const char* backend, int device) {
  return answered([&] {
    const Backend wanted = read_backend(backend);
    if (device < 0) {
      throw tidemark::client::Failure(TIDEMARK_ERROR_NO_SUCH_DEVICE,
                                      "there is no device " + std::to_string(device) + "; they are numbered from 0");
    }
    const auto ordinal = static_cast<std::uint32_t>(device);
    (void)tidemark::client::untouched({.backend = wanted, .ordinal = ordinal});  // is there such a device?
    driver_of(wanted).set_current(ordinal);
    return int{TIDEMARK_OK};
  });
}

const char* tidemark_current_backend(void) {
  const int backend = answered([] {
    if (const Backend used = OwnProcess::used_backend(); used != Backend::Unknown) {
      return static_cast<int>(used);
    }
    for (const Backend present : {Backend::Cuda, Backend::Mtia}) {
      if (driver_of(present).count() > 0) {
        return static_cast<int>(present);
      }
    }
    return 0;
  });
  return backend > 0 ? tidemark::segment::to_text(static_cast<Backend>(backend)) : nullptr;
}

}  // extern "C"
