#include "bench/trace.hpp"

#include <algorithm>
#include <fstream>
#include <unordered_map>

namespace tidemark::bench {
namespace {

struct Live {
  std::uint32_t slot = 0;
  std::uint64_t size = 0;
};

}  // namespace

std::optional<Trace> read_trace(const std::string& path) {
  std::ifstream file{path};
  std::string line;
  if (!std::getline(file, line) || line.rfind("op,addr,size", 0) != 0) return std::nullopt;
  Trace trace;
  std::unordered_map<std::string, Live> live;
  std::vector<std::uint32_t> free_slots;
  std::uint64_t live_bytes = 0;
  while (std::getline(file, line)) {
    const std::size_t address_end = line.find(',', 2);
    if (address_end == std::string::npos || line[1] != ',') return std::nullopt;
    const std::string address = line.substr(2, address_end - 2);
    const auto known = live.find(address);
    if (line[0] == 'a' && known == live.end()) {
      Live block{.slot = trace.slots, .size = std::stoull(line.substr(address_end + 1))};
      if (free_slots.empty()) {
        ++trace.slots;
      } else {
        block.slot = free_slots.back();
        free_slots.pop_back();
      }
      live.emplace(address, block);
      trace.steps.push_back({block.slot, block.size});
      ++trace.allocations;
      live_bytes += block.size;
      trace.live_peak_bytes = std::max(trace.live_peak_bytes, live_bytes);
    } else if (line[0] == 'f' && known != live.end()) {
      trace.steps.push_back({known->second.slot, 0});
      free_slots.push_back(known->second.slot);
      live_bytes -= known->second.size;
      live.erase(known);
    } else if (line[0] != 'F') {
      return std::nullopt;
    }
  }
  return trace;
}

}  // namespace tidemark::bench
