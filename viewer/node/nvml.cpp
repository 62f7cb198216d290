#include "viewer/node/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

namespace tidemark::viewer {
namespace {

using nvml::Code;
using nvml::Device;

constexpr const char* kLibrary = "libnvidia-ml.so.1";
constexpr unsigned kMostDevices = 4096;  // a library that says more is not to be believed
constexpr unsigned kMostSlices = 64;

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds{std::chrono::system_clock::now().time_since_epoch()}.count());
}

// Empty where the library doesn't say.
std::string text_from(Code (*ask)(Device, char*, unsigned), Device device) {
  std::array<char, nvml::kTextBytes> text{};
  if (ask == nullptr || ask(device, text.data(), nvml::kTextBytes) != Code::Success) {
    return {};
  }
  return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}

}  // namespace

Nvml::Nvml(const Find& find) {
  const char* missing = nullptr;
#define X(member, function, arguments)                                                \
  functions_.member = reinterpret_cast<decltype(functions_.member)>(find(#function)); \
  missing = missing == nullptr && functions_.member == nullptr ? #function : missing;
  TIDEMARK_NVML_REQUIRED(X)
#undef X
#define X(member, function, arguments) \
  functions_.member = reinterpret_cast<decltype(functions_.member)>(find(#function));
  TIDEMARK_NVML_OPTIONAL(X)
#undef X
  functions_.error_string = reinterpret_cast<const char* (*)(Code)>(find("nvmlErrorString"));
  if (missing != nullptr) {
    trouble_ = fmt::format("{} has no {}", kLibrary, missing);
  } else if (const Code code = functions_.init(); code != Code::Success) {
    trouble_ = fmt::format("nvmlInit_v2: {}", text_of(code));
  }
}

Nvml Nvml::open() {
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    Nvml none;
    none.trouble_ = why != nullptr ? why : fmt::format("{} cannot be loaded", kLibrary);
    return none;
  }
  return Nvml{[library](const char* name) { return dlsym(library, name); }};
}

std::string Nvml::text_of(Code code) const {
  const char* const text = functions_.error_string != nullptr ? functions_.error_string(code) : nullptr;
  return text != nullptr ? fmt::format("{} ({})", text, static_cast<int>(code))
                         : fmt::format("error {}", static_cast<int>(code));
}

NodeFacts Nvml::look() const {
  NodeFacts facts;
  facts.no_nvml = trouble_;
  if (!trouble_.empty()) {
    return facts;
  }
  unsigned count = 0;
  if (const Code code = functions_.count(&count); code != Code::Success) {
    facts.no_nvml = fmt::format("nvmlDeviceGetCount_v2: {}", text_of(code));
    return facts;
  }
  for (unsigned index = 0; index < std::min(count, kMostDevices); ++index) {
    // One that fell off the bus, or that we may not see: the others still count.
    if (Device device = nullptr; functions_.by_index(index, &device) == Code::Success) {
      add_device(facts, device, index);
    }
  }
  return facts;
}

// A GPU that is cut into slices is shown as these: its own numbers would count their memory once more.
void Nvml::add_device(NodeFacts& facts, Device device, std::uint32_t index) const {
  NodeFact whole = fact_of(device, index);
  if (!whole.uuid.empty() && !add_slices(facts, device, whole)) {
    facts.devices.push_back(std::move(whole));
  }
}

bool Nvml::add_slices(NodeFacts& facts, Device device, const NodeFact& whole) const {
  unsigned is_on = 0;
  unsigned will_be = 0;
  unsigned count = 0;
  if (functions_.mig_mode == nullptr || functions_.mig_count == nullptr || functions_.mig_by_index == nullptr ||
      functions_.mig_mode(device, &is_on, &will_be) != Code::Success || is_on == 0 ||
      functions_.mig_count(device, &count) != Code::Success) {
    return false;
  }
  bool has_any = false;
  for (unsigned i = 0; i < std::min(count, kMostSlices); ++i) {
    Device slice = nullptr;  // places without one answer "not found"
    if (functions_.mig_by_index(device, i, &slice) != Code::Success) {
      continue;
    }
    NodeFact fact = fact_of(slice, *whole.index);
    if (fact.uuid.empty()) {
      continue;
    }
    fact.name = fact.name.empty() ? whole.name : fact.name;
    fact.pci_bus_id = whole.pci_bus_id;
    facts.devices.push_back(std::move(fact));
    has_any = true;
  }
  return has_any;
}

NodeFact Nvml::fact_of(Device device, std::uint32_t index) const {
  NodeFact fact{.uuid = text_from(functions_.uuid, device)};
  fact.uuid_bytes = parse_uuid(fact.uuid);
  fact.name = text_from(functions_.name, device);
  fact.index = index;
  fact.from_nvml = true;
  if (nvml::PciInfo pci{}; functions_.pci != nullptr && functions_.pci(device, &pci) == Code::Success) {
    pci.bus_id[sizeof pci.bus_id - 1] = '\0';
    fact.pci_bus_id = plain_bus_id(pci.bus_id);
  }
  read_memory(device, fact);
  return fact;
}

void Nvml::read_memory(Device device, NodeFact& fact) const {
  fact.time_ns = now_ns();
  nvml::MemoryV2 all{};
  all.version = nvml::kMemoryV2;
  if (functions_.memory_v2 != nullptr && functions_.memory_v2(device, &all) == Code::Success &&
      all.reserved <= all.total && all.free <= all.total - all.reserved) {
    fact.capacity = all.total;
    // Not `used`: whether that has the reserved part in it depends on the library's age. This has not, as the driver's
    // own cuMemGetInfo has not.
    fact.used = all.total - all.reserved - all.free;
    return;
  }
  nvml::Memory plain{};
  if (functions_.memory != nullptr && functions_.memory(device, &plain) == Code::Success && plain.free <= plain.total) {
    fact.capacity = plain.total;
    fact.used = plain.total - plain.free;
  }
}

}  // namespace tidemark::viewer
