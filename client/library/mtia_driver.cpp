// libmtia.so.1, whose functions are few enough to be declared here.
#include <cstddef>

#include "client/library/drivers.hpp"
#include "client/library/failure.hpp"
#include "client/library/loaded_library.hpp"
#include "client/library/never_destroyed.hpp"

namespace tidemark::client {
namespace {

using Init = int (*)(unsigned);
using AskNumber = int (*)(int*);
using SetDevice = int (*)(int);
using MemGetInfo = int (*)(std::size_t*, std::size_t*);

void check(const char* function, int code) {
  if (code != 0) {
    throw Failure(TIDEMARK_ERROR_DRIVER, std::string{function} + " failed with code " + std::to_string(code));
  }
}

class MtiaDriver final : public Driver {
 public:
  [[nodiscard]] bool is_loaded() const override { return library_.is_loaded(); }

  void init() override { check("mtiaInit", needed<Init>("mtiaInit")(0)); }

  [[nodiscard]] std::uint32_t count() override {
    const auto ask = library_.load() ? library_.find<AskNumber>("mtiaGetDeviceCount") : nullptr;
    int count = 0;
    return ask != nullptr && ask(&count) == 0 && count > 0 ? static_cast<std::uint32_t>(count) : 0;
  }

  void set_current(std::uint32_t ordinal) override {
    check("mtiaSetDevice", needed<SetDevice>("mtiaSetDevice")(static_cast<int>(ordinal)));
  }

  [[nodiscard]] MemoryFigures memory_info(std::uint32_t ordinal) override {
    const auto ask = needed<MemGetInfo>("mtiaMemGetInfo");
    const std::uint32_t outer = current();
    if (outer != ordinal) {
      set_current(ordinal);
    }
    std::size_t free = 0;
    std::size_t total = 0;
    const int code = ask(&free, &total);
    if (outer != ordinal) {
      set_current(outer);
    }
    check("mtiaMemGetInfo", code);
    return {.free = free, .total = total};
  }

  [[nodiscard]] std::uint32_t current() override {
    const auto ask = library_.find<AskNumber>("mtiaGetDevice");
    int device = 0;
    return ask != nullptr && ask(&device) == 0 && device > 0 ? static_cast<std::uint32_t>(device) : 0;
  }

 private:
  template <class Function>
  [[nodiscard]] Function needed(const char* function) const {
    const auto found = library_.load() ? library_.find<Function>(function) : nullptr;
    if (found == nullptr) {
      throw Failure(TIDEMARK_ERROR_DRIVER, std::string{"no MTIA driver: "} + library_.name() + " with " + function +
                                               " is not found; LD_LIBRARY_PATH says where it is looked for");
    }
    return found;
  }

  LoadedLibrary library_{"libmtia.so.1"};
};

}  // namespace

Driver& mtia_driver() {
  static NeverDestroyed<MtiaDriver> driver;
  return *driver;
}

}  // namespace tidemark::client
