// An ELF file that is open: the descriptor, and libelf's view of it.
#pragma once

#include <fcntl.h>
#include <libelf.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace tidemark::viewer {

class ElfFile {
 public:
  explicit ElfFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ >= 0) {
      elf_version(EV_CURRENT);
      elf_ = elf_begin(fd_, ELF_C_READ_MMAP, nullptr);
    }
  }
  ~ElfFile() {
    if (elf_ != nullptr) {
      elf_end(elf_);
    }
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  [[nodiscard]] bool ok() const { return elf_ != nullptr && elf_kind(elf_) == ELF_K_ELF; }
  [[nodiscard]] Elf* elf() const { return elf_; }

 private:
  int fd_;
  Elf* elf_ = nullptr;
};

}  // namespace tidemark::viewer
