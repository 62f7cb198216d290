#include "simulator/cuda/driver/arrays.hpp"

#include <algorithm>

namespace cuda_sim {
namespace {

constexpr std::uint64_t kRowUnit = 128;
constexpr std::uint64_t kTileRows = 8;
constexpr std::uint64_t kWholeUnit = std::uint64_t{64} << 10;
constexpr std::uint64_t kWidest = 131072;  // as the attributes have it
constexpr std::uint64_t kMostSlices = 16384;

std::uint64_t round_up(std::uint64_t n, std::uint64_t step) { return (n + step - 1) / step * step; }

// Of one channel; 0 for formats that aren't simulated.
std::uint64_t bytes_of(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      return 4;
    default:
      return 0;
  }
}

}  // namespace

CUresult lay_out(const CUDA_ARRAY3D_DESCRIPTOR& what, ArrayLayout& out) {
  const std::uint64_t channel = bytes_of(what.Format);
  const bool counts = what.NumChannels == 1 || what.NumChannels == 2 || what.NumChannels == 4;
  const bool layered = what.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
  // A depth without a height is for layers of one row alone.
  if (channel == 0 || !counts || what.Width == 0 || (what.Height == 0 && what.Depth != 0 && !layered)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (what.Flags & CUDA_ARRAY3D_CUBEMAP && (what.Width != what.Height || what.Depth == 0 || what.Depth % 6 != 0)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (what.Width > kWidest || what.Height > kWidest || what.Depth > kMostSlices) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  out.row_bytes = what.Width * channel * what.NumChannels;
  out.rows = std::max<std::uint64_t>(what.Height, 1);
  out.slices = std::max<std::uint64_t>(what.Depth, 1);
  out.pitch = round_up(out.row_bytes, kRowUnit);
  out.slice = out.pitch * (what.Height == 0 ? 1 : round_up(out.rows, kTileRows));
  return CUDA_SUCCESS;
}

bool takes_memory(const CUDA_ARRAY3D_DESCRIPTOR& what) {
  constexpr unsigned kWithout = 0x40 | 0x80;  // sparse; deferred mapping, which older headers don't name
  return (what.Flags & kWithout) == 0;
}

std::uint64_t padded(std::uint64_t size) { return round_up(size, kWholeUnit); }

CUarray Arrays::add(const Array& array) {
  std::lock_guard lock{mutex_};
  auto* handle = reinterpret_cast<CUarray>(++last_handle_);
  arrays_.emplace(handle, array);
  return handle;
}

std::optional<Array> Arrays::find(CUarray handle) const {
  std::lock_guard lock{mutex_};
  const auto found = arrays_.find(handle);
  return found != arrays_.end() ? std::optional{found->second} : std::nullopt;
}

bool Arrays::remove(CUarray handle) {
  std::lock_guard lock{mutex_};
  const auto found = arrays_.find(handle);
  if (found == arrays_.end() || found->second.mipmap) {
    return false;
  }
  arrays_.erase(found);
  return true;
}

CUmipmappedArray Arrays::add_mipmap(const std::vector<Array>& levels, sim::Address base) {
  std::lock_guard lock{mutex_};
  auto* handle = reinterpret_cast<CUmipmappedArray>(++last_handle_);
  Mipmap mipmap{.base = base, .context = levels.front().context};
  for (Array level : levels) {
    level.mipmap = handle;
    mipmap.levels.push_back(reinterpret_cast<CUarray>(++last_handle_));
    arrays_.emplace(mipmap.levels.back(), level);
  }
  mipmaps_.emplace(handle, std::move(mipmap));
  return handle;
}

std::optional<sim::Address> Arrays::find_mipmap(CUmipmappedArray handle) const {
  std::lock_guard lock{mutex_};
  const auto found = mipmaps_.find(handle);
  return found != mipmaps_.end() ? std::optional{found->second.base} : std::nullopt;
}

CUarray Arrays::level(CUmipmappedArray handle, unsigned level) const {
  std::lock_guard lock{mutex_};
  const auto found = mipmaps_.find(handle);
  return found != mipmaps_.end() && level < found->second.levels.size() ? found->second.levels[level] : nullptr;
}

void Arrays::remove(CUmipmappedArray handle) {
  std::lock_guard lock{mutex_};
  if (mipmaps_.erase(handle) == 1) {
    std::erase_if(arrays_, [handle](const auto& entry) { return entry.second.mipmap == handle; });
  }
}

void Arrays::forget(const Context& context) {
  std::lock_guard lock{mutex_};
  std::erase_if(arrays_, [&](const auto& entry) { return entry.second.context == &context; });
  std::erase_if(mipmaps_, [&](const auto& entry) { return entry.second.context == &context; });
}

}  // namespace cuda_sim
