#include "shim/stacks/readable.hpp"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace tidemark::stacks {

// The kernel copies a signal set from there before it sees that it is to do nothing known with it: EFAULT or EINVAL. No
// filter of system calls forbids this one, as might be with process_vm_readv, and mincore() takes guard pages for
// memory.
bool is_readable(std::uintptr_t address) noexcept {
  constexpr long kSetBytes = 8;
  const int outer = errno;
  const bool readable = syscall(SYS_rt_sigprocmask, -1L, address, nullptr, kSetBytes) == -1 && errno == EINVAL;
  errno = outer;
  return readable;
}

bool copy_bytes(std::uintptr_t address, std::span<std::uint8_t> into) noexcept {
  const int outer = errno;
  const iovec to{.iov_base = into.data(), .iov_len = into.size()};
  const iovec from{.iov_base = reinterpret_cast<void*>(address), .iov_len = into.size()};
  const ssize_t copied = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
  errno = outer;
  return copied == static_cast<ssize_t>(into.size());
}

}  // namespace tidemark::stacks
