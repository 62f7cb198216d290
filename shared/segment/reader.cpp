#include "shared/segment/reader.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <span>
#include <string_view>
#include <utility>

#include "shared/segment/decode.hpp"
#include "shared/segment/layout.hpp"
#include "shared/segment/liveness.hpp"
#include "shared/segment/names.hpp"
#include "shared/segment/own_identity.hpp"
#include "shared/segment/record_copy.hpp"

namespace tidemark::segment {
namespace {

constexpr ReadBudget kAckBudget{.still_ns = 2'000'000, .busy_ns = 10'000'000, .tries_before_sleep = 64};

// /proc/PID/fd/N, by which a memfd is reached: a link by nature.
bool is_descriptor_path(std::string_view path) {
  const auto take = [&path](std::string_view text) {
    const bool is_there = path.starts_with(text);
    path.remove_prefix(is_there ? text.size() : 0);
    return is_there;
  };
  const auto take_number = [&path] {
    const std::size_t end = std::min(path.find_first_not_of("0123456789"), path.size());
    path.remove_prefix(end);
    return end > 0;
  };
  return take("/proc/") && take_number() && take("/fd/") && take_number() && path.empty();
}

// Asked for each process that is looked at, and /proc takes 6 us for an answer. Only a fork leads to another namespace.
std::uint64_t pid_namespace() {
  thread_local pid_t asked_by = 0;
  thread_local std::uint64_t answer = 0;
  if (const pid_t self = ::getpid(); asked_by != self) {
    asked_by = self;
    answer = own_pid_namespace();
  }
  return answer;
}

}  // namespace

const char* to_text(ProcessState state) noexcept {
  switch (state) {
    case ProcessState::Live:
      return "live";
    case ProcessState::Stopped:
      return "stopped";
    case ProcessState::Exited:
      return "exited";
    case ProcessState::Killed:
      return "killed";
    case ProcessState::Replaced:
      return "replaced";
    case ProcessState::Unreadable:
      return "unreadable";
  }
  return "?";
}

Result<SegmentReader> SegmentReader::open(const std::string& path) {
  const int no_link = is_descriptor_path(path) ? 0 : O_NOFOLLOW;
  FileHandle file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | no_link)};
  if (!file) {
    return errno == ELOOP || errno == ENXIO ? Error{ErrorCode::BadFormat, errno} : system_error(errno);
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) {
    return system_error(errno);
  }
  if (!S_ISREG(info.st_mode) || info.st_size < 0) {
    return Error{ErrorCode::BadFormat};
  }
  const Result<FirstPage> page = FirstPage::of(file.get());
  if (!page) {
    return page.error();
  }
  const Result<CheckedHead> checked = check_segment(page.value(), static_cast<std::uint64_t>(info.st_size));
  if (!checked) {
    return checked.error();
  }
  const CheckedHead& head = checked.value();

  SegmentReader reader;
  reader.file_ = std::move(file);
  reader.path_ = path;
  reader.st_dev_ = info.st_dev;
  reader.st_ino_ = info.st_ino;
  reader.bytes_ = static_cast<std::uint64_t>(info.st_size);
  reader.has_newer_layout_ = head.has_newer_layout;
  reader.sections_ = head.sections;
  // A copy under another segment's name would answer for it.
  const auto name = parse_stats_name(std::string_view{path}.substr(path.rfind('/') + 1));
  if (name && name->nonce != head.nonce) {
    return Error{ErrorCode::BadFormat};
  }
  RecordImage<IdentityRecord> image;
  if (!page.value().read(std::as_writable_bytes(image.words_up_to(reader.sections_.identity.stride)),
                         reader.sections_.identity.offset)) {
    return Error{ErrorCode::BadFormat};
  }
  decode_identity(reader.identity_, image);
  reader.identity_.nonce = head.nonce;
  reader.identity_.id = id_of(head.nonce);
  reader.identity_.file_uid = info.st_uid;
  reader.identity_.has_control = (head.features & kFeatureControl) != 0;
  const std::uint64_t ours = pid_namespace();
  reader.is_in_our_namespace_ = ours != 0 && ours == reader.identity_.pid_namespace;
  return reader;
}

bool SegmentReader::has_shrunk() const noexcept {
  struct stat info {};
  return ::fstat(file_.get(), &info) != 0 || static_cast<std::uint64_t>(info.st_size) < bytes_;
}

std::optional<CoverageList> SegmentReader::coverage(const ReadBudget& budget) const {
  RecordImage<CoverageRecord> image;
  if (sections_.coverage.count == 0 ||
      image.copy(file_.get(), sections_.coverage.offset, sections_.coverage.stride, budget) == CopyOutcome::Failed ||
      image.word(offsetof(CoverageRecord, written)) == 0) {
    return std::nullopt;
  }
  return decode_coverage(image);
}

// They never change: no sequence.
std::vector<Setting> SegmentReader::settings() const {
  RecordImage<SettingsRecord> image;
  if (sections_.settings.count == 0 ||
      !read_exactly(file_.get(), std::as_writable_bytes(image.words_up_to(sections_.settings.stride)),
                    sections_.settings.offset)) {
    return {};
  }
  return decode_settings(image);
}

bool SegmentReader::is_owner_alive() const noexcept { return is_locked(file_.get()); }

ProcessState SegmentReader::state() const { return state_of(visible_pid()); }

ProcessState SegmentReader::state_of(std::int64_t pid) const {
  if (is_owner_alive()) {
    switch (look_at_process(pid, is_in_our_namespace_ ? identity_.start_ticks : 0)) {
      case ProcessSign::Stopped:
        return ProcessState::Stopped;
      case ProcessSign::Running:
      case ProcessSign::Hidden:
        return ProcessState::Live;
      case ProcessSign::Absent:
        // From another pid namespace that says nothing. In ours the process is gone for sure, and a child that was
        // forked while the segment was being made still holds the lock.
        if (!is_in_our_namespace_) {
          return ProcessState::Live;
        }
        break;
    }
  }
  if (read_state(file_.get()) == static_cast<std::uint32_t>(SegmentState::Exited)) {
    return ProcessState::Exited;
  }
  return is_replaced() ? ProcessState::Replaced : ProcessState::Killed;
}

// Requires: its lock is free. An exec takes the mapping and leaves pid and start time. A copy of a segment, which
// nobody has locked, is known by its name.
bool SegmentReader::is_replaced() const {
  return is_in_our_namespace_ && identity_.start_ticks != 0 &&
         parse_stats_name(std::string_view{path_}.substr(path_.rfind('/') + 1)) &&
         has_program(identity_.pid, identity_.start_ticks);
}

std::int64_t SegmentReader::visible_pid() const {
  return is_in_our_namespace_ ? identity_.pid : flock_holder(st_dev_, st_ino_);
}

Result<Acknowledgement> SegmentReader::acknowledgement(std::uint32_t slot) const {
  if (slot >= sections_.acks.count) {
    return Error{ErrorCode::InvalidValue};
  }
  RecordImage<AckRecord> image;
  const CopyOutcome outcome = image.copy(file_.get(), sections_.acks.at(slot), sections_.acks.stride, kAckBudget);
  if (outcome != CopyOutcome::Consistent) {
    return Error{outcome == CopyOutcome::Failed ? ErrorCode::BadFormat : ErrorCode::Timeout};
  }
  return decode_acknowledgement(image);
}

std::uint32_t SegmentReader::ack_bell() const noexcept {
  std::uint32_t bell = 0;
  static_cast<void>(read_exactly(file_.get(), std::as_writable_bytes(std::span{&bell, 1}), bell_offset()));
  return bell;
}

void SegmentReader::wait_for_bell(std::uint32_t seen, std::chrono::nanoseconds timeout) const noexcept {
  if (bell_mapping_.address() == nullptr) {
    if (Result<Mapping> mapping = Mapping::of(file_.get(), MapMode::ReadOnly, bell_offset() + sizeof(std::uint64_t))) {
      bell_mapping_ = std::move(mapping).value();
    }
  }
  const timespec time{.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000),
                      .tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000)};
  // Only the kernel looks at the address: a page that is gone is an EFAULT here.
  if (bell_mapping_.address() == nullptr ||
      (::syscall(SYS_futex, bell_mapping_.address() + bell_offset(), FUTEX_WAIT, seen, &time, nullptr, 0) != 0 &&
       errno == EFAULT)) {
    ::nanosleep(&time, nullptr);
  }
}

std::uint64_t SegmentReader::bell_offset() const noexcept {
  return sections_.global.offset + offsetof(GlobalRecord, ack_bell);
}

}  // namespace tidemark::segment
