#include "simulator/cuda/driver/imports.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace cuda_sim {
namespace {

constexpr std::uint64_t kMagic = 0x3150'4953'4344'5543;  // "CUDCSIP1"

// The exporter's file, if it is still the one that was exported; -1 otherwise.
int open_file_of(const ExportedMemory& source) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", source.pid, source.file.fd);
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  struct stat found {};
  if (fd >= 0 && fstat(fd, &found) == 0 && found.st_dev == source.file.device && found.st_ino == source.file.inode) {
    return fd;
  }
  if (fd >= 0) {
    close(fd);
  }
  return -1;
}

}  // namespace

CUresult Imports::describe(sim::Address pointer, CUipcMemHandle& out) const {
  const sim::Place place = machine_.place(pointer);
  if (!place.live) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto file = machine_.memory(place.device).export_range(pointer);
  if (!file) {
    return place.allocation.foreign ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED;
  }
  const ExportedMemory exported{.magic = kMagic,
                                .pid = static_cast<std::int32_t>(getpid()),
                                .machine_index = place.device,
                                .file = *file,
                                .size = place.allocation.size,
                                .serial = place.allocation.serial};
  std::memcpy(&out, &exported, sizeof exported);
  return CUDA_SUCCESS;
}

CUresult Imports::open(Context& context, const CUipcMemHandle& handle, CUdeviceptr& out, bool of_pool) {
  const auto source = std::bit_cast<ExportedMemory>(handle);
  if (source.magic != kMagic || source.size == 0 || source.machine_index < 0 ||
      source.machine_index >= machine_.device_count()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (source.pid == getpid()) {
    return CUDA_ERROR_INVALID_CONTEXT;  // CUDA's answer to a process that opens its own
  }

  std::lock_guard lock{mutex_};
  for (Import& import : imports_) {
    if (import.context == &context && import.source == source) {
      ++import.times;
      out = import.base;
      return CUDA_SUCCESS;
    }
  }
  const int fd = open_file_of(source);
  if (fd < 0) {
    return CUDA_ERROR_INVALID_VALUE;  // the exporter has gone
  }
  sim::Address base = 0;
  sim::DeviceMemory& memory = machine_.memory(source.machine_index);
  const sim::Status status = memory.open_foreign(context.core, fd, source.file.offset, source.size, base);
  ::close(fd);
  if (status != sim::Status::Ok) {
    return CUDA_ERROR_MAP_FAILED;
  }
  imports_.push_back({.source = source, .context = &context, .base = base, .of_pool = of_pool});
  out = base;
  return CUDA_SUCCESS;
}

bool Imports::is_of_pool(sim::Address base) const {
  std::lock_guard lock{mutex_};
  return std::any_of(imports_.begin(), imports_.end(),
                     [base](const Import& import) { return import.base == base && import.of_pool; });
}

CUresult Imports::close(sim::Address base) {
  std::lock_guard lock{mutex_};
  const auto import =
      std::find_if(imports_.begin(), imports_.end(), [base](const Import& one) { return one.base == base; });
  if (import == imports_.end()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (--import->times > 0) {
    return CUDA_SUCCESS;
  }
  const int device = import->source.machine_index;
  imports_.erase(import);
  machine_.scheduler().synchronize_everything();
  machine_.memory(device).close_foreign(base);
  return CUDA_SUCCESS;
}

void Imports::forget(const Context& context) {
  std::lock_guard lock{mutex_};
  for (const Import& import : imports_) {
    if (import.context == &context) {
      // Gone already where it was on the context's own device.
      machine_.memory(import.source.machine_index).close_foreign(import.base);
    }
  }
  std::erase_if(imports_, [&](const Import& import) { return import.context == &context; });
}

}  // namespace cuda_sim
