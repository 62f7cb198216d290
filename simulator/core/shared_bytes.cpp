#include "simulator/core/shared_bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sim {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMagic = 0x3159'5342'4D49'5343;  // "CSIMBSY1"

// In the page behind the bytes.
struct Trailer {
  std::uint64_t magic = 0;
  SharedBytes::Label label{};
};

void* map(std::uint64_t size, int fd) {
  const int flags = MAP_SHARED | MAP_NORESERVE | (fd < 0 ? MAP_ANONYMOUS : 0);
  void* bytes = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, fd, 0);
  if (bytes == MAP_FAILED) return nullptr;
  // Mappings inherit both: a forked child has no use for the bytes, and a huge page would make one touched byte cost
  // 2 MiB.
  madvise(bytes, size, MADV_DONTFORK);
  madvise(bytes, size, MADV_NOHUGEPAGE);
  return bytes;
}

}  // namespace

SharedBytes::SharedBytes(Private, void* bytes, std::uint64_t size, int fd) : bytes_(bytes), size_(size), fd_(fd) {}

SharedBytes::~SharedBytes() {
  munmap(bytes_, size_);
  if (fd_ >= 0) close(fd_);
}

std::shared_ptr<SharedBytes> SharedBytes::make(std::uint64_t size) {
  void* bytes = map(size, -1);
  return bytes != nullptr ? std::make_shared<SharedBytes>(Private{}, bytes, size, -1) : nullptr;
}

std::shared_ptr<SharedBytes> SharedBytes::make_exportable(const Label& label) {
  const int fd = memfd_create("simulated-physical-memory", MFD_CLOEXEC);
  if (fd < 0) return nullptr;
  const Trailer trailer{kMagic, label};
  const auto end = static_cast<off_t>(label.size);
  void* bytes = nullptr;
  if (ftruncate(fd, end + static_cast<off_t>(kPage)) == 0 &&
      pwrite(fd, &trailer, sizeof trailer, end) == static_cast<ssize_t>(sizeof trailer)) {
    bytes = map(label.size, fd);
  }
  if (bytes == nullptr) {
    close(fd);
    return nullptr;
  }
  return std::make_shared<SharedBytes>(Private{}, bytes, label.size, fd);
}

std::shared_ptr<SharedBytes> SharedBytes::open(int fd, Label& label) {
  struct stat found {};
  Trailer trailer;
  const auto page = static_cast<off_t>(kPage);
  if (fstat(fd, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size <= page ||
      pread(fd, &trailer, sizeof trailer, found.st_size - page) != static_cast<ssize_t>(sizeof trailer) ||
      trailer.magic != kMagic || trailer.label.size != static_cast<std::uint64_t>(found.st_size - page)) {
    return nullptr;
  }
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  void* bytes = own >= 0 ? map(trailer.label.size, own) : nullptr;
  if (bytes == nullptr) {
    if (own >= 0) close(own);
    return nullptr;
  }
  label = trailer.label;
  return std::make_shared<SharedBytes>(Private{}, bytes, label.size, own);
}

bool SharedBytes::map_at(Address at, std::uint64_t size) const {
  // An old size of 0 leaves the old mapping and makes one more of the same bytes, without a descriptor for them.
  return mremap(bytes_, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, reinterpret_cast<void*>(at)) != MAP_FAILED;
}

int SharedBytes::export_descriptor() const { return fd_ >= 0 ? fcntl(fd_, F_DUPFD_CLOEXEC, 0) : -1; }

bool SharedBytes::is_behind(int fd) const {
  struct stat mine {};
  struct stat theirs {};
  return fd_ >= 0 && fstat(fd_, &mine) == 0 && fstat(fd, &theirs) == 0 && mine.st_dev == theirs.st_dev &&
         mine.st_ino == theirs.st_ino;
}

}  // namespace sim
