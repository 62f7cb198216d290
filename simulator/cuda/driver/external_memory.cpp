#include "simulator/cuda/driver/external_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cuda_sim {
namespace {

// Bytes that stand for what can't be mapped; -1 when the host refuses.
int stand_in(std::uint64_t size) {
  const int fd = memfd_create("simulated-external-memory", MFD_CLOEXEC);
  if (fd >= 0 && ftruncate(fd, static_cast<off_t>(size)) == 0) {
    return fd;
  }
  if (fd >= 0) {
    close(fd);
  }
  return -1;
}

}  // namespace

CUresult ExternalMemory::import(const Context& context, int fd, std::uint64_t size, CUexternalMemory& out) {
  struct stat found {};
  if (fd < 0 || fstat(fd, &found) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool can_be_mapped = S_ISREG(found.st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR;
  if (can_be_mapped && size > static_cast<std::uint64_t>(found.st_size)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const int bytes = can_be_mapped ? fd : stand_in(size);
  if (bytes < 0) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  std::lock_guard lock{mutex_};
  out = reinterpret_cast<CUexternalMemory>(++last_handle_);
  imports_.emplace(out, Import{bytes, size, &context});
  if (bytes != fd) {
    close(fd);
  }
  return CUDA_SUCCESS;
}

CUresult ExternalMemory::map(const Context& context, CUexternalMemory handle, std::uint64_t offset, std::uint64_t size,
                             CUdeviceptr& out) {
  std::lock_guard lock{mutex_};
  const auto found = imports_.find(handle);
  if (found == imports_.end()) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  const Import& import = found->second;
  if (offset > import.size || size > import.size - offset) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const int device = devices_[static_cast<std::size_t>(context.device)];
  sim::Address base = 0;
  if (machine_.memory(device).open_foreign(context.core, import.fd, offset, size, base) != sim::Status::Ok) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  buffers_[base] = {device, &context};
  out = base;
  return CUDA_SUCCESS;
}

CUresult ExternalMemory::destroy(CUexternalMemory handle) {
  std::lock_guard lock{mutex_};
  const auto found = imports_.find(handle);
  if (found == imports_.end()) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  close(found->second.fd);
  imports_.erase(found);
  return CUDA_SUCCESS;
}

bool ExternalMemory::owns(CUdeviceptr base) const {
  std::lock_guard lock{mutex_};
  return buffers_.contains(base);
}

void ExternalMemory::unmap(CUdeviceptr base) {
  std::lock_guard lock{mutex_};
  if (const auto found = buffers_.find(base); found != buffers_.end()) {
    machine_.memory(found->second.device).close_foreign(base);
    buffers_.erase(found);
  }
}

void ExternalMemory::forget(const Context& context) {
  std::lock_guard lock{mutex_};
  std::erase_if(buffers_, [&](const auto& entry) { return entry.second.context == &context; });
  std::erase_if(imports_, [&](const auto& entry) {
    if (entry.second.context != &context) {
      return false;
    }
    close(entry.second.fd);
    return true;
  });
}

}  // namespace cuda_sim
