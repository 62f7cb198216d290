#include "shared/control/control_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <span>
#include <string>

#include "shared/control/layout.hpp"
#include "shared/segment/enumerate.hpp"
#include "shared/segment/liveness.hpp"
#include "shared/segment/record_copy.hpp"

namespace tidemark::control {
namespace {

Status check_head(int fd, std::uint64_t nonce) {
  struct stat info {};
  ControlHead head;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
      !segment::read_exactly(fd, std::as_writable_bytes(std::span{&head, 1}), 0) || head.magic != kControlMagic ||
      head.nonce != nonce) {
    return Error{ErrorCode::BadFormat};
  }
  if (head.major != kControlMajor) {
    return Error{ErrorCode::WrongVersion};
  }
  const ControlHead expected;
  if (head.slot_count != expected.slot_count || head.slot_stride != expected.slot_stride ||
      head.slots_offset != expected.slots_offset) {
    return Error{ErrorCode::BadFormat};
  }
  return {};
}

}  // namespace

Result<segment::FileHandle> open_control_file(const segment::SegmentReader& reader, int access) {
  const Result<std::string> path = segment::find_control_path(reader);
  if (!path) {
    return path.error();
  }
  // The name of a memfd in /proc is a link by nature; any other link is not ours.
  const bool is_memfd = !path.value().ends_with(segment::kControlSuffix);
  segment::FileHandle file{
      ::open(path.value().c_str(), access | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | (is_memfd ? 0 : O_NOFOLLOW))};
  if (!file) {
    return errno == ELOOP ? Error{ErrorCode::BadFormat, errno} : segment::system_error(errno);
  }
  if (const Status sound = check_head(file.get(), reader.identity().nonce); !sound) {
    return sound.error();
  }
  // A copy would take requests that nobody ever reads.
  if (!segment::is_locked(file.get())) {
    return Error{ErrorCode::BadFormat};
  }
  return file;
}

}  // namespace tidemark::control
