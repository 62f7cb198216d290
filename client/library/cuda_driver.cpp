// libcuda.so.1. A program that uses the runtime ends there too, and the runtime takes the context that is current.
#include <cstddef>
#include <mutex>
#include <set>

#include "client/library/drivers.hpp"
#include "client/library/failure.hpp"
#include "client/library/loaded_library.hpp"
#include "client/library/never_destroyed.hpp"

namespace tidemark::client {
namespace {

using Context = void*;
using Init = int (*)(unsigned);
using AskNumber = int (*)(int*);
using AskContext = int (*)(Context*);
using GetDevice = int (*)(int*, int);
using Retain = int (*)(Context*, int);
using Release = int (*)(int);
using UseContext = int (*)(Context);
using MemGetInfo = int (*)(std::size_t*, std::size_t*);

void check(const char* function, int code) {
  if (code != 0) {
    throw Failure(TIDEMARK_ERROR_DRIVER, std::string{function} + " failed with code " + std::to_string(code));
  }
}

class CudaDriver final : public Driver {
 public:
  [[nodiscard]] bool is_loaded() const override { return library_.is_loaded(); }

  void init() override { check("cuInit", needed<Init>("cuInit")(0)); }

  [[nodiscard]] std::uint32_t count() override {
    const auto start = library_.load() ? library_.find<Init>("cuInit") : nullptr;
    const auto ask = library_.find<AskNumber>("cuDeviceGetCount");
    int count = 0;
    const bool is_known = start != nullptr && ask != nullptr && start(0) == 0 && ask(&count) == 0 && count > 0;
    return is_known ? static_cast<std::uint32_t>(count) : 0;
  }

  // As cudaSetDevice: the device's primary context, which is kept from then on.
  void set_current(std::uint32_t ordinal) override {
    init();
    const int device = handle_of(ordinal);
    Context context = nullptr;
    check("cuDevicePrimaryCtxRetain", needed<Retain>("cuDevicePrimaryCtxRetain")(&context, device));
    {
      const std::lock_guard lock{mutex_};
      if (!kept_.insert(device).second) {
        release(device);  // held already
      }
    }
    check("cuCtxSetCurrent", needed<UseContext>("cuCtxSetCurrent")(context));
  }

  [[nodiscard]] MemoryFigures memory_info(std::uint32_t ordinal) override {
    init();
    const int device = handle_of(ordinal);
    const auto current = current_handle();
    if (current && *current == device) {
      return ask_for_memory();
    }
    Context context = nullptr;
    check("cuDevicePrimaryCtxRetain", needed<Retain>("cuDevicePrimaryCtxRetain")(&context, device));
    const int pushed = needed<UseContext>("cuCtxPushCurrent_v2")(context);
    MemoryFigures figures;
    int code = pushed;
    if (pushed == 0) {
      code = needed<MemGetInfo>("cuMemGetInfo_v2")(&figures.free, &figures.total);
      Context popped = nullptr;
      needed<AskContext>("cuCtxPopCurrent_v2")(&popped);
    }
    release(device);
    check("cuMemGetInfo", code);
    return figures;
  }

  [[nodiscard]] std::uint32_t current() override {
    const auto device = current_handle();
    return device && *device > 0 ? static_cast<std::uint32_t>(*device) : 0;  // a driver's handles are its ordinals
  }

 private:
  static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));

  [[nodiscard]] int handle_of(std::uint32_t ordinal) const {
    int device = 0;
    check("cuDeviceGet", needed<GetDevice>("cuDeviceGet")(&device, static_cast<int>(ordinal)));
    return device;
  }

  [[nodiscard]] std::optional<int> current_handle() const {
    const auto ask = library_.find<AskNumber>("cuCtxGetDevice");
    int device = 0;
    return ask != nullptr && ask(&device) == 0 ? std::optional{device} : std::nullopt;
  }

  [[nodiscard]] MemoryFigures ask_for_memory() const {
    MemoryFigures figures;
    check("cuMemGetInfo", needed<MemGetInfo>("cuMemGetInfo_v2")(&figures.free, &figures.total));
    return figures;
  }

  void release(int device) const { (void)needed<Release>("cuDevicePrimaryCtxRelease_v2")(device); }

  template <class Function>
  [[nodiscard]] Function needed(const char* function) const {
    const auto found = library_.load() ? library_.find<Function>(function) : nullptr;
    if (found == nullptr) {
      throw Failure(TIDEMARK_ERROR_DRIVER, std::string{"no CUDA driver: "} + library_.name() + " with " + function +
                                               " is not found; LD_LIBRARY_PATH says where it is looked for");
    }
    return found;
  }

  LoadedLibrary library_{"libcuda.so.1"};
  std::mutex mutex_;
  std::set<int> kept_;
};

}  // namespace

Driver& cuda_driver() {
  static NeverDestroyed<CudaDriver> driver;
  return *driver;
}

Driver& driver_of(Backend backend) { return backend == Backend::Mtia ? mtia_driver() : cuda_driver(); }

}  // namespace tidemark::client
