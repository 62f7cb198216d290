// A file's bytes, mapped: programs may be gigabytes, and only headers and names are looked at.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace tidemark::viewer {

// Empty where it cannot be read.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat found {};
    if (fd >= 0 && fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0) {
      size_ = static_cast<std::size_t>(found.st_size);
      data_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0) {
      close(fd);
    }
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() {
    if (data_ != MAP_FAILED) {
      munmap(data_, size_);
    }
  }

  [[nodiscard]] std::string_view bytes() const {
    return data_ == MAP_FAILED ? std::string_view{} : std::string_view{static_cast<const char*>(data_), size_};
  }

 private:
  void* data_ = MAP_FAILED;
  std::size_t size_ = 0;
};

}  // namespace tidemark::viewer
