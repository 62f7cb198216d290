#include "shared/history/snapshot_image.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "shared/segment/file_handle.hpp"
#include "shared/segment/file_steps.hpp"
#include "shared/segment/mapping.hpp"
#include "shared/segment/sequence.hpp"

namespace tidemark::history {

SnapshotImage::~SnapshotImage() {
  if (tables_ != nullptr) {
    tables_->~ProcessTables();
  }
  if (memory_ != nullptr) {
    ::munmap(memory_, bytes_);
  }
}

Status SnapshotImage::make(const FileWords& words, const ProcessSizes& process,
                           std::span<const DeviceSizes> devices) noexcept {
  bytes_ = first_area_offset(process);
  for (const DeviceSizes& sizes : devices) {
    bytes_ += area_bytes(sizes);
  }
  // Populated: the first store into a page, under a device's lock, would be what takes longest.
  void* const pages =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (pages == MAP_FAILED) {
    return segment::system_error(errno);
  }
  memory_ = static_cast<std::byte*>(pages);
  layout_ = new (memory_) Layout{};
  fill_process_words(*layout_, words, process, bytes_);
  tables_ = new (tables_place_) ProcessTables(*layout_, memory_, process);
  std::uint64_t offset = first_area_offset(process);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices_[i] = DeviceWriter{layout_->devices[i], memory_ + offset, offset, devices[i]};
    offset += area_bytes(devices[i]);
  }
  return {};
}

void SnapshotImage::set_beat(std::uint64_t number, std::uint64_t now_ns) noexcept {
  segment::store_word(layout_->info.beat_monotonic_ns, now_ns);
  segment::store_word(layout_->info.beat, number);
}

Status SnapshotImage::save(const char* path) const noexcept {
  const segment::FileHandle file{::open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (!file) {
    return segment::system_error(errno);
  }
  Status written = segment::allocate(file.get(), bytes_);
  if (written) {
    written = segment::write_all(file.get(), {memory_, bytes_});
  }
  if (!written) {
    ::unlink(path);
  }
  return written;
}

}  // namespace tidemark::history
