// Arrays and mipmapped arrays: handles of device memory without an address for the program. A row takes a multiple of
// 128 B and the whole of 64 KiB, as tiles do. Any thread may call.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "simulator/core/machine.hpp"
#include "simulator/cuda/driver/contexts.hpp"

namespace cuda_sim {

// How the elements lie in memory.
struct ArrayLayout {
  std::uint64_t row_bytes = 0;  // that hold elements
  std::uint64_t rows = 1;
  std::uint64_t slices = 1;
  std::uint64_t pitch = 0;
  std::uint64_t slice = 0;  // bytes from one to the next

  [[nodiscard]] std::uint64_t size() const { return slice * slices; }
};

struct Array {
  CUDA_ARRAY3D_DESCRIPTOR what{};
  ArrayLayout layout{};
  const Context* context = nullptr;
  sim::Address base = 0;              // 0: sparse or mapped later, so without memory
  CUmipmappedArray mipmap = nullptr;  // a level of it: not to be destroyed alone
};

// INVALID_VALUE for shapes and formats that can't be; OUT_OF_MEMORY for sizes beyond numbers.
CUresult lay_out(const CUDA_ARRAY3D_DESCRIPTOR& what, ArrayLayout& out);
[[nodiscard]] bool takes_memory(const CUDA_ARRAY3D_DESCRIPTOR& what);
// What an array or a mipmapped one with all its levels takes.
[[nodiscard]] std::uint64_t padded(std::uint64_t size);

class Arrays {
 public:
  CUarray add(const Array& array);
  [[nodiscard]] std::optional<Array> find(CUarray handle) const;
  // False: unknown, or a level of a mipmapped array.
  bool remove(CUarray handle);

  // `levels`: from the largest on, in one piece of memory at `base`.
  CUmipmappedArray add_mipmap(const std::vector<Array>& levels, sim::Address base);
  [[nodiscard]] std::optional<sim::Address> find_mipmap(CUmipmappedArray handle) const;
  // NULL: no such level.
  [[nodiscard]] CUarray level(CUmipmappedArray handle, unsigned level) const;
  void remove(CUmipmappedArray handle);

  // The context's life has ended, and its memory with it.
  void forget(const Context& context);

 private:
  struct Mipmap {
    sim::Address base = 0;
    const Context* context = nullptr;
    std::vector<CUarray> levels{};
  };

  mutable std::mutex mutex_;
  std::map<CUarray, Array> arrays_;
  std::map<CUmipmappedArray, Mipmap> mipmaps_;
  std::uintptr_t last_handle_ = 0x5D90'0000'0000'0000;  // no address
};

}  // namespace cuda_sim
