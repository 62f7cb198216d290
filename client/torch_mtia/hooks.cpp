// What torch.mtia asks. Its objects are made by the Python package (tidemark/torch_mtia.py).
#include <Python.h>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/MTIAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <optional>
#include <string>

#include "client/include/tidemark/tidemark.h"
#include "client/torch_mtia/mtia_calls.hpp"

namespace tidemark::torch_mtia {
namespace {

c10::Stream default_stream(c10::DeviceIndex device) { return c10::Stream::unpack3(0, device, c10::DeviceType::MTIA); }

class HoldsInterpreter {
 public:
  HoldsInterpreter() : state_(PyGILState_Ensure()) {}
  ~HoldsInterpreter() { PyGILState_Release(state_); }
  HoldsInterpreter(const HoldsInterpreter&) = delete;
  HoldsInterpreter& operator=(const HoldsInterpreter&) = delete;

 private:
  PyGILState_STATE state_;
};

// The text of the pending exception, which is cleared.
std::string pending_text() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject* const text = value == nullptr ? nullptr : PyObject_Str(value);
  const char* const words = text == nullptr ? nullptr : PyUnicode_AsUTF8(text);
  std::string found = words == nullptr ? "unknown failure" : words;
  PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  return found;
}

// A function of tidemark.torch_mtia; a new reference. `arguments` as Py_BuildValue takes them.
template <class... Arguments>
PyObject* call(const char* function, const char* format, Arguments... arguments) {
  const HoldsInterpreter held;
  PyObject* const module = PyImport_ImportModule("tidemark.torch_mtia");
  PyObject* const result = module == nullptr ? nullptr : PyObject_CallMethod(module, function, format, arguments...);
  Py_XDECREF(module);
  TORCH_CHECK(result != nullptr, pending_text());
  return result;
}

void do_call(PyObject* result) {
  const HoldsInterpreter held;
  Py_DECREF(result);
}

const char* or_null(const std::optional<std::string>& text) { return text ? text->c_str() : nullptr; }

}  // namespace

// PyTorch's registry knows it by this name.
struct MTIAHooks final : at::MTIAHooksInterface {
  MTIAHooks() = default;
  explicit MTIAHooks(at::MTIAHooksArgs) {}  // as versions before 2.12 make it

  [[nodiscard]] bool isBuilt() const override { return true; }
  [[nodiscard]] bool hasMTIA() const override { return true; }
  [[nodiscard]] bool hasPrimaryContext(c10::DeviceIndex) const override { return tidemark_is_initialized("mtia") == 1; }
  void init() const override { check(tidemark_init("mtia")); }
  [[nodiscard]] std::string showConfig() const override { return "the MTIA driver, seen by Tidemark"; }

  [[nodiscard]] c10::DeviceIndex deviceCount() const override { return device_count(); }
  [[nodiscard]] c10::DeviceIndex getDeviceCount() const override { return device_count(); }
  [[nodiscard]] c10::DeviceIndex getCurrentDevice() const override { return current_device(); }
  void setCurrentDevice(c10::DeviceIndex device) const override { set_device(device); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    const c10::DeviceIndex outer = current_device();
    if (device >= 0 && device != outer) {
      set_device(device);
    }
    return outer;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override { return exchangeDevice(device); }
  void deviceSynchronize(c10::DeviceIndex device) const override {
    synchronize(device < 0 ? current_device() : device);
  }

  // The driver's default stream is all that tensors need.
  [[nodiscard]] c10::Stream getCurrentStream(c10::DeviceIndex device) const override { return default_stream(device); }
  [[nodiscard]] c10::Stream getDefaultStream(c10::DeviceIndex device) const override { return default_stream(device); }
  void setCurrentStream(const c10::Stream&) const override {}

  // Random numbers are made on the host.
  [[nodiscard]] const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return at::detail::getDefaultCPUGenerator();
  }
  [[nodiscard]] at::Generator getNewGenerator(c10::DeviceIndex) const override {
    return at::detail::createCPUGenerator();
  }

  [[nodiscard]] PyObject* memoryStats(c10::DeviceIndex device) const override {
    return call("_memory_stats", "i", static_cast<int>(device));
  }
  void resetPeakMemoryStats(c10::DeviceIndex device) const override {
    check(tidemark_reset_peak_memory_stats(nullptr, DeviceName{device}.text));
  }
  void emptyCache() const override { check(tidemark_empty_cache(nullptr, "all")); }
  void recordMemoryHistory(const std::optional<std::string>& enabled, const std::string& stacks,
                           std::size_t max_entries) const override {
    check(tidemark_record_memory_history(nullptr, or_null(enabled), stacks.c_str(), max_entries));
  }
  [[nodiscard]] PyObject* memorySnapshot(const std::optional<std::string>& path) const override {
    return call("_snapshot", "z", or_null(path));
  }
  void attachOutOfMemoryObserver(PyObject* observer) const override { do_call(call("_attach", "O", observer)); }
};

using at::MTIAHooksRegistry;
using at::RegistererMTIAHooksRegistry;
REGISTER_MTIA_HOOKS(MTIAHooks);

// A thread's device while PyTorch works on another.
struct Guard final : c10::impl::DeviceGuardImplInterface {
  Guard() = default;
  explicit Guard(c10::DeviceType) {}

  [[nodiscard]] c10::DeviceType type() const override { return c10::DeviceType::MTIA; }
  [[nodiscard]] c10::Device getDevice() const override { return {c10::DeviceType::MTIA, current_device()}; }
  void setDevice(c10::Device device) const override {
    if (device.index() >= 0 && device.index() != current_device()) {
      set_device(device.index());
    }
  }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device outer = getDevice();
    setDevice(device);
    return outer;
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    (void)tidemark_set_device("mtia", device.index());
  }
  [[nodiscard]] c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }
  [[nodiscard]] c10::Stream getStream(c10::Device device) const override { return default_stream(device.index()); }
  [[nodiscard]] c10::Stream getDefaultStream(c10::Device device) const override {
    return default_stream(device.index());
  }
  [[nodiscard]] c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
};
C10_REGISTER_GUARD_IMPL(MTIA, Guard);

}  // namespace tidemark::torch_mtia
