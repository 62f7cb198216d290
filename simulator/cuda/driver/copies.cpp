#include "simulator/cuda/driver/copies.hpp"

#include <utility>

namespace cuda_sim {
namespace {

enum class Kind { Device, Pinned, Pageable };

Kind kind_of(Driver& driver, sim::Address address) {
  const sim::Place place = driver.machine.place(address);
  if (place.device >= 0 || place.is_virtual) {
    return Kind::Device;
  }
  // Managed memory is host memory that the device reaches, like pinned one.
  const bool reached = driver.host_memory.find(reinterpret_cast<const void*>(address)) || driver.managed.find(address);
  return reached ? Kind::Pinned : Kind::Pageable;
}

// `span` bytes from `address` on end within the host memory that begins there, as far as the driver knows its end.
bool stays_within(Driver& driver, sim::Address address, std::uint64_t span) {
  sim::Address end = 0;
  if (const auto managed = driver.managed.find(address)) {
    end = managed->base + managed->size;
  } else if (const auto pinned = driver.host_memory.find(reinterpret_cast<const void*>(address))) {
    end = pinned->base + pinned->size;
  }
  return end == 0 || span <= end - address;
}

std::uint64_t saturated(std::uint64_t before_last, std::uint64_t step, std::uint64_t part) {
  std::uint64_t total = 0;
  const bool over = __builtin_mul_overflow(before_last, step, &total) || __builtin_add_overflow(total, part, &total);
  return over ? UINT64_MAX : total;
}

// The device can reach pinned memory under its own address, so it will do where a device pointer is meant.
bool fits(Kind kind, Side side) {
  return side == Side::Any || (side == Side::Device ? kind != Kind::Pageable : kind != Kind::Device);
}

// One side of a CUDA_MEMCPY3D.
struct End {
  CUmemorytype type{};
  const void* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  std::size_t x = 0;  // in bytes
  std::size_t y = 0;
  std::size_t z = 0;
  std::size_t pitch = 0;
  std::size_t height = 0;
};

// Where the first byte of a side is, and the way to the next row and slice.
struct Start {
  Side side = Side::Any;
  sim::Address address = 0;
  std::uint64_t pitch = 0;
  std::uint64_t slice = 0;
};

bool fits(std::uint64_t offset, std::uint64_t extent, std::uint64_t all) {
  return offset <= all && extent <= all - offset;
}

CUresult start_of_array(Driver& driver, const End& end, const CUDA_MEMCPY3D& copy, Start& out) {
  const std::optional<Array> array = driver.arrays.find(end.array);
  if (!array) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  const ArrayLayout& layout = array->layout;
  if (array->base == 0 || !fits(end.x, copy.WidthInBytes, layout.row_bytes) || !fits(end.y, copy.Height, layout.rows) ||
      !fits(end.z, copy.Depth, layout.slices)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  out = {.side = Side::Device,
         .address = array->base + end.z * layout.slice + end.y * layout.pitch + end.x,
         .pitch = layout.pitch,
         .slice = layout.slice};
  return CUDA_SUCCESS;
}

CUresult start_of(Driver& driver, const End& end, const CUDA_MEMCPY3D& copy, Start& out) {
  const std::size_t row = end.x + copy.WidthInBytes;
  // A pitch of 0 means rows without a gap, a height of 0 slices without one.
  out.pitch = end.pitch ? end.pitch : row;
  const std::size_t rows = end.height ? end.height : end.y + copy.Height;
  out.slice = out.pitch * rows;
  switch (end.type) {
    case CU_MEMORYTYPE_ARRAY:
      return start_of_array(driver, end, copy, out);
    case CU_MEMORYTYPE_HOST:
      out.side = Side::Host;
      out.address = reinterpret_cast<sim::Address>(end.host);
      break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
      out.side = end.type == CU_MEMORYTYPE_DEVICE ? Side::Device : Side::Any;
      out.address = end.device;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  const bool overlaps = out.pitch < row || (copy.Depth > 1 && rows < end.y + copy.Height);
  out.address += end.z * out.slice + end.y * out.pitch + end.x;
  return overlaps ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

GraphNode to_node(sim::Work work) {
  GraphNode node;
  node.type = std::holds_alternative<sim::Copy>(work)           ? CU_GRAPH_NODE_TYPE_MEMCPY
              : std::holds_alternative<sim::Fill>(work)         ? CU_GRAPH_NODE_TYPE_MEMSET
              : std::holds_alternative<sim::HostFunction>(work) ? CU_GRAPH_NODE_TYPE_HOST
              : std::holds_alternative<sim::Kernel>(work)       ? CU_GRAPH_NODE_TYPE_KERNEL
                                                                : CU_GRAPH_NODE_TYPE_EMPTY;
  if (auto* copy = std::get_if<sim::Copy>(&work)) {
    copy->host_source = sim::HostSource::Late;  // each launch reads anew
  }
  node.work = std::move(work);
  return node;
}

CUresult submit(Call& call, const Stream& stream, sim::Work work) {
  bool swallow = false;
  if (const CUresult code = call.driver.captures.admit_work(stream, swallow); code != CUDA_SUCCESS) {
    return code;
  }
  if (swallow) {
    call.driver.captures.add(stream, to_node(std::move(work)));
    return CUDA_SUCCESS;
  }
  return to_code(call.driver.machine.submit(stream.core, std::move(work)), *stream.context);
}

CUresult wait_for(Call& call, const Stream& stream) {
  if (const CUresult code = call.driver.captures.forbid_wait_for(stream); code != CUDA_SUCCESS) {
    return code;
  }
  const CUresult code = to_code(call.scheduler().synchronize(stream.core), *stream.context);
  call.driver.pools.collect();
  return code;
}

CUresult transfer(Call& call, const Stream& stream, Transfer transfer, Mode mode) {
  sim::Copy& copy = transfer.copy;
  call.scope.note("bytes=%llu", 1ULL * copy.width * copy.height * copy.depth);
  if (mode == Mode::Synchronous) {
    if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
      return code;
    }
  }
  if (copy.width == 0 || copy.height == 0 || copy.depth == 0) {
    return CUDA_SUCCESS;
  }
  const Kind to = kind_of(call.driver, copy.to);
  const Kind from = kind_of(call.driver, copy.from);
  if (!fits(to, transfer.to) || !fits(from, transfer.from)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto span = [&copy](std::uint64_t pitch, std::uint64_t slice) {
    return saturated(copy.depth - 1, slice, saturated(copy.height - 1, pitch, copy.width));
  };
  if (!stays_within(call.driver, copy.to, span(copy.to_pitch, copy.to_slice)) ||
      !stays_within(call.driver, copy.from, span(copy.from_pitch, copy.from_slice))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  copy.host_source = from == Kind::Pageable ? sim::HostSource::Staged : sim::HostSource::Late;
  if (const CUresult code = submit(call, stream, std::move(copy)); code != CUDA_SUCCESS) {
    return code;
  }
  // Between devices nobody waits; into pageable memory everybody does; out of it the bytes are staged, and the call
  // returns before they have arrived.
  const bool within_devices = to == Kind::Device && from == Kind::Device;
  const bool staged = to == Kind::Device && from == Kind::Pageable;
  const bool waits = to == Kind::Pageable || (mode == Mode::Synchronous && !within_devices && !staged) ||
                     (to != Kind::Device && from != Kind::Device);
  if (!waits || call.driver.captures.state_of(stream).status != CU_STREAM_CAPTURE_STATUS_NONE) {
    return CUDA_SUCCESS;
  }
  return wait_for(call, stream);
}

CUresult fill(Call& call, const Stream& stream, sim::Fill fill, Mode mode) {
  call.scope.note("bytes=%llu", 1ULL * fill.width * fill.height);
  if (mode == Mode::Synchronous) {
    if (const CUresult code = call.driver.captures.forbid_unsafe_call(); code != CUDA_SUCCESS) {
      return code;
    }
  }
  if (fill.to % fill.element != 0 || (fill.height > 1 && fill.pitch % fill.element != 0)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  fill.on_host = kind_of(call.driver, fill.to) == Kind::Pinned;
  if (fill.on_host && fill.height > 0 &&
      !stays_within(call.driver, fill.to, saturated(fill.height - 1, fill.pitch, fill.width))) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return submit(call, stream, fill);  // even the functions without Async don't wait for device memory
}

CUresult to_transfer(Driver& driver, const CUDA_MEMCPY3D& copy, Transfer& out) {
  Start from;
  Start to;
  const End source{copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcXInBytes,
                   copy.srcY,          copy.srcZ,    copy.srcPitch,  copy.srcHeight};
  const End target{copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, copy.dstXInBytes,
                   copy.dstY,          copy.dstZ,    copy.dstPitch,  copy.dstHeight};
  if (const CUresult code = start_of(driver, source, copy, from); code != CUDA_SUCCESS) {
    return code;
  }
  if (const CUresult code = start_of(driver, target, copy, to); code != CUDA_SUCCESS) {
    return code;
  }
  out.to = to.side;
  out.from = from.side;
  out.copy = {.to = to.address, .from = from.address, .width = copy.WidthInBytes, .height = copy.Height};
  out.copy.depth = copy.Depth;
  out.copy.to_pitch = to.pitch;
  out.copy.from_pitch = from.pitch;
  out.copy.to_slice = to.slice;
  out.copy.from_slice = from.slice;
  return CUDA_SUCCESS;
}

CUresult to_transfer(Driver& driver, const CUDA_MEMCPY2D& rows, Transfer& out) {
  CUDA_MEMCPY3D copy{};
  copy.srcXInBytes = rows.srcXInBytes;
  copy.srcY = rows.srcY;
  copy.srcMemoryType = rows.srcMemoryType;
  copy.srcHost = rows.srcHost;
  copy.srcDevice = rows.srcDevice;
  copy.srcArray = rows.srcArray;
  copy.srcPitch = rows.srcPitch;
  copy.dstXInBytes = rows.dstXInBytes;
  copy.dstY = rows.dstY;
  copy.dstMemoryType = rows.dstMemoryType;
  copy.dstHost = rows.dstHost;
  copy.dstDevice = rows.dstDevice;
  copy.dstArray = rows.dstArray;
  copy.dstPitch = rows.dstPitch;
  copy.WidthInBytes = rows.WidthInBytes;
  copy.Height = rows.Height;
  copy.Depth = 1;
  return to_transfer(driver, copy, out);
}

}  // namespace cuda_sim
