#include "viewer/node/kernel_driver.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace tidemark::viewer {
namespace fs = std::filesystem;
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

struct Gpu {
  NodeFact fact;
  bool is_excluded = false;  // by the driver's NVreg_ExcludedGpus: no program gets it and nvidia-smi doesn't count it
};

// Lines of "Model: 		 NVIDIA H200". A GPU that nothing woke yet has question marks for a uuid.
Gpu read_gpu(const fs::path& directory) {
  Gpu gpu;
  gpu.fact.pci_bus_id = plain_bus_id(directory.filename().string());
  std::ifstream file(directory / "information");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      continue;
    }
    const std::string_view name = trimmed(std::string_view{line}.substr(0, colon));
    const std::string value{trimmed(std::string_view{line}.substr(colon + 1))};
    if (name == "Model") {
      gpu.fact.name = value;
    } else if (name == "GPU UUID") {
      gpu.fact.uuid_bytes = parse_uuid(value);
      gpu.fact.uuid = gpu.fact.uuid_bytes ? value : "";
    } else if (name == "GPU Excluded") {
      gpu.is_excluded = value == "Yes";
    }
  }
  return gpu;
}

}  // namespace

std::vector<NodeFact> gpus_of_kernel_driver(const fs::path& root) {
  std::vector<NodeFact> gpus;
  std::error_code error;
  for (fs::directory_iterator entry{root, error}, end; !error && entry != end; entry.increment(error)) {
    Gpu gpu = read_gpu(entry->path());
    if (!gpu.is_excluded) {
      gpus.push_back(std::move(gpu.fact));
    }
  }
  // Of one length and one case, so that texts sort as numbers do.
  std::sort(gpus.begin(), gpus.end(), [](const NodeFact& a, const NodeFact& b) { return a.pci_bus_id < b.pci_bus_id; });
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    gpus[i].index = static_cast<std::uint32_t>(i);
  }
  return gpus;
}

}  // namespace tidemark::viewer
