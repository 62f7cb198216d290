// Managed memory: host memory that the devices reach under the same address, and what the program said of where its
// pages are best. It takes nothing of a device's capacity: pages come to a device only while a kernel uses them, and
// none runs here. Any thread may call.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "simulator/cuda/driver/contexts.hpp"

namespace cuda_sim {

// A place for pages. The types are numbered as CUmemLocationType, which older headers don't have in full.
struct Residence {
  static constexpr int kNowhere = 0;
  static constexpr int kDevice = 1;
  static constexpr int kHost = 2;
  static constexpr int kHostNode = 3;
  static constexpr int kNearestNode = 4;

  int type = kNowhere;
  int id = CU_DEVICE_INVALID;

  bool operator==(const Residence&) const = default;
  // As the attributes tell it that know no types.
  [[nodiscard]] int as_device() const {
    return type == kDevice ? id : type == kNowhere ? CU_DEVICE_INVALID : CU_DEVICE_CPU;
  }
};

struct Advice {
  bool read_mostly = false;
  Residence preferred{};
  Residence prefetched{};
  std::set<int> accessed_by{};  // CU_DEVICE_CPU among them
};

struct ManagedRange {
  std::uintptr_t base = 0;
  std::size_t size = 0;  // as asked for
  unsigned flags = 0;
  Context* context = nullptr;
  std::uint64_t serial = 0;  // tells it from a later one at the same address
};

class ManagedMemory {
 public:
  // Page-aligned, zeroed. Requires: size > 0.
  CUresult allocate(Context& context, std::size_t size, unsigned flags, CUdeviceptr& out);
  // INVALID_VALUE for anything but a base. The caller has waited for the work that uses it.
  CUresult free(CUdeviceptr base);

  // The allocation around an address (interior ones too).
  [[nodiscard]] std::optional<ManagedRange> find(CUdeviceptr address) const;
  [[nodiscard]] bool is_empty() const;

  // Changes the advice for the pages that [address, address + size) touches. INVALID_VALUE unless one allocation has
  // them all.
  template <class Change>
  CUresult advise(CUdeviceptr address, std::size_t size, Change&& change) {
    std::lock_guard lock{mutex_};
    const std::optional<Pages> pages = pages_of(address, size);
    if (!pages) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    split(pages->first);
    split(pages->last);
    for (auto at = advice_.lower_bound(pages->first); at != advice_.end() && at->first < pages->last; ++at) {
      change(at->second);
    }
    return CUDA_SUCCESS;
  }

  // What all the pages have in common. Nothing unless one allocation has them all.
  [[nodiscard]] std::optional<Advice> common_advice(CUdeviceptr address, std::size_t size) const;

  // The context's life has ended; its memory goes. The caller has waited for the work that uses it.
  void forget(const Context& context);

 private:
  struct Pages {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;  // one beyond
  };
  using Ranges = std::map<std::uintptr_t, ManagedRange>;

  [[nodiscard]] Ranges::const_iterator around(std::uintptr_t address) const;
  [[nodiscard]] std::optional<Pages> pages_of(std::uintptr_t address, std::size_t size) const;
  void split(std::uintptr_t at);
  void drop(const ManagedRange& range);

  mutable std::mutex mutex_;
  Ranges ranges_;
  // From each address to the next one: neighbouring pages with the same history share an entry.
  std::map<std::uintptr_t, Advice> advice_;
  std::uint64_t last_serial_ = 0;
};

}  // namespace cuda_sim
