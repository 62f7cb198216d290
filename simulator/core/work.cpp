#include "simulator/core/work.hpp"

namespace sim {
namespace {

constexpr Ticks kTransferTicks = 64;
constexpr std::uint64_t kBytesPerTick = std::uint64_t{16} << 20;

Ticks duration(const Copy& copy) { return kTransferTicks + copy.width * copy.height * copy.depth / kBytesPerTick; }
Ticks duration(const Fill& fill) { return kTransferTicks + fill.width * fill.height / kBytesPerTick; }
Ticks duration(const HostFunction&) { return 0; }
Ticks duration(const Kernel& kernel) { return kernel.duration; }
Ticks duration(const Marker&) { return 0; }

}  // namespace

Ticks duration_of(const Work& work) {
  return std::visit([](const auto& what) { return duration(what); }, work);
}

}  // namespace sim
