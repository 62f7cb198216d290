#include "simulator/cuda/driver/settings.hpp"

#include <cuda.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "simulator/core/device_identity.hpp"
#include "simulator/cuda/driver/resolver.hpp"
#include "simulator/cuda/identity.hpp"

namespace cuda_sim {
namespace {

constexpr sim::Ticks kMostKernelTicks = 1'000'000'000;
constexpr int kOldestVersion = 11030;  // the first with cuGetProcAddress

std::optional<std::uint64_t> read_number(const char* name, std::uint64_t least, std::uint64_t most) {
  const char* text = std::getenv(name);
  if (!text || !*text) {
    return std::nullopt;
  }
  const std::string_view digits{text};
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc{} && end == digits.data() + digits.size() && value >= least && value <= most) {
    return value;
  }
  std::fprintf(stderr, "simulator: %s=%s is not a number from %llu to %llu; using the default\n", name, text,
               static_cast<unsigned long long>(least), static_cast<unsigned long long>(most));
  return std::nullopt;
}

// `GPU-` and any number of digits that fit one device alone; -1 else.
int device_of_uuid(std::string_view prefix, const sim::Machine& machine) {
  int found = -1;
  for (int device = 0; device < machine.device_count(); ++device) {
    if (uuid_text(machine.identity(device)).starts_with(prefix)) {
      if (found >= 0) {
        return -1;
      }
      found = device;
    }
  }
  return found;
}

int device_of(std::string_view word, const sim::Machine& machine) {
  if (word.starts_with("GPU-")) {
    return device_of_uuid(word, machine);
  }
  int index = -1;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  const bool is_index = error == std::errc{} && end == word.data() + word.size();
  return is_index && index >= 0 && index < machine.device_count() ? index : -1;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

Settings read_settings() {
  Settings settings;
  settings.knobs = read_machine_knobs();
  for (sim::FailRule& rule : settings.knobs.fail) {
    rule.call = newest_symbol(rule.call);
  }
  if (const auto ticks = read_number("CUDA_SIM_KERNEL_TICKS", 0, kMostKernelTicks)) {
    settings.kernel_ticks = *ticks;
  }
  return settings;
}

int driver_version() {
  static const int version = static_cast<int>(
      read_number("CUDA_SIM_DRIVER_VERSION", kOldestVersion, CUDA_VERSION).value_or(std::uint64_t{CUDA_VERSION}));
  return version;
}

std::vector<int> visible_devices(std::optional<std::string_view> list, const sim::Machine& machine) {
  std::vector<int> devices;
  if (!list) {
    for (int device = 0; device < machine.device_count(); ++device) {
      devices.push_back(device);
    }
    return devices;
  }
  std::string_view rest = *list;
  while (true) {
    const auto comma = rest.find(',');
    const int device = device_of(trimmed(rest.substr(0, comma)), machine);
    if (device < 0) {
      return devices;
    }
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      return {};  // naming a device twice makes none visible
    }
    devices.push_back(device);
    if (comma == std::string_view::npos) {
      return devices;
    }
    rest = rest.substr(comma + 1);
  }
}

std::string uuid_text(const sim::DeviceIdentity& identity) { return sim::uuid_text(kUuidWord, identity); }

}  // namespace cuda_sim
