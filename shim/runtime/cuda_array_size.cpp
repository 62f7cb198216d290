#include "shim/runtime/cuda_array_size.hpp"

#include <algorithm>
#include <bit>

namespace tidemark::runtime {
namespace {

// Per element, all channels. By number: a header of an older toolkit lacks the later names.
unsigned bits_of_element(unsigned format, unsigned channels) noexcept {
  switch (format) {
    case 0x01:  // unsigned, signed 8-bit integers
    case 0x08:
      return 8 * channels;
    case 0x02:  // 16-bit integers, half
    case 0x09:
    case 0x10:
      return 16 * channels;
    case 0x03:  // 32-bit integers, float
    case 0x0a:
    case 0x20:
      return 32 * channels;
    case 0x91:  // BC1 and BC4: blocks of 16 elements in 8 bytes
    case 0x92:
    case 0x97:
    case 0x98:
      return 4;
    case 0x93:  // BC2, 3, 5, 6H, 7: in 16 bytes
    case 0x94:
    case 0x95:
    case 0x96:
    case 0x99:
    case 0x9a:
    case 0x9b:
    case 0x9c:
    case 0x9d:
      return 8;
    case 0xc0:  // normalised integers: 8 x 1, 2, 4; 16 x 1, 2, 4; unsigned and signed
    case 0xc6:
      return 8;
    case 0xc1:
    case 0xc7:
    case 0xc3:
    case 0xc9:
      return 16;
    case 0xc2:
    case 0xc8:
    case 0xc4:
    case 0xca:
    case 0x50:  // 10:10:10:2
      return 32;
    case 0xc5:
    case 0xcb:
    case 0xb1:  // Y416
      return 64;
    case 0xb0:  // NV12
      return 12;
    case 0xa2:  // NV16, YUY2
    case 0xa5:
      return 16;
    case 0x9f:  // P010, P016, planar and semi-planar 4:4:4 of 8 bits
    case 0xa1:
    case 0xb2:
    case 0xb4:
      return 24;
    case 0xa3:  // P210, P216, Y210, Y216, AYUV, Y410
    case 0xa4:
    case 0xa6:
    case 0xa7:
    case 0xa8:
    case 0xa9:
      return 32;
    case 0xb3:  // 4:4:4 of 10 and 16 bits
    case 0xb5:
      return 48;
    default:
      return 8 * channels;  // of a newer driver: at least that
  }
}

}  // namespace

std::uint64_t size_of_array(const CUDA_ARRAY3D_DESCRIPTOR& shape, unsigned levels) noexcept {
  if ((shape.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) != 0) {
    return 0;
  }
  const bool has_layers = (shape.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
  const std::uint64_t bits = bits_of_element(static_cast<unsigned>(shape.Format), shape.NumChannels);
  const auto at_level = [](std::uint64_t extent, unsigned level) {
    return std::max<std::uint64_t>(extent >> std::min(level, 63U), 1);
  };
  // As the driver does: at least one level, at most one for each halving of the largest extent.
  const std::uint64_t largest = std::max({shape.Width, shape.Height, has_layers ? 0 : shape.Depth, std::size_t{1}});
  levels = std::clamp(levels, 1U, static_cast<unsigned>(std::bit_width(largest)));
  std::uint64_t total = 0;
  for (unsigned level = 0; level < levels; ++level) {
    const std::uint64_t depth = has_layers ? std::max<std::uint64_t>(shape.Depth, 1) : at_level(shape.Depth, level);
    total += (at_level(shape.Width, level) * at_level(shape.Height, level) * depth * bits + 7) / 8;
  }
  return total;
}

}  // namespace tidemark::runtime
