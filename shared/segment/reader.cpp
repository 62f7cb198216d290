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

ProcessGlobals globals_of(const RecordImage<GlobalRecord>& image, CopyOutcome outcome) {
  ProcessGlobals globals = decode_globals(image);
  globals.approximate = outcome != CopyOutcome::Consistent;
  return globals;
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

ProcessGlobals SegmentReader::globals(const ReadBudget& budget) const {
  RecordImage<GlobalRecord> image;
  const CopyOutcome outcome = image.copy(file_.get(), sections_.global.offset, sections_.global.stride, budget);
  return globals_of(image, outcome);
}

bool SegmentReader::is_active(const RecordScan& scan, std::uint32_t slot) const noexcept {
  return scan.first_word(sections_.devices.at(slot) + offsetof(DeviceRecord, state)) ==
         static_cast<std::uint64_t>(DeviceState::Active);
}

// All records that change but acknowledgements; of devices, only as far as there are any.
RecordScan SegmentReader::scan() const {
  const auto range_of = [&](std::uint32_t devices) {
    const Section& global = sections_.global;
    FileRange range{.begin = global.offset, .end = global.at(global.count)};
    for (const Section* section : {&sections_.device_info, &sections_.devices}) {
      if (devices > 0) {
        range.begin = std::min<std::uint64_t>(range.begin, section->offset);
        range.end = std::max(range.end, section->at(devices));
      }
    }
    return range;
  };
  RecordScan scan{file_.get(), range_of(sections_.devices.count)};
  std::uint32_t devices = sections_.devices.count;
  while (devices > 0 && !is_active(scan, devices - 1)) {
    --devices;
  }
  scan.read_words(range_of(devices));
  scan.read_again();
  return scan;
}

// A device that comes while we read is for the next time: its info is surely complete only before its record says so.
std::vector<DeviceSnapshot> SegmentReader::devices(const RecordScan& scan, const ReadBudget& budget) const {
  std::vector<DeviceSnapshot> found;
  for (std::uint32_t slot = 0; slot < sections_.devices.count; ++slot) {
    if (!is_active(scan, slot)) {
      continue;
    }
    RecordImage<DeviceRecord> image;
    const CopyOutcome outcome =
        image.copy(scan, file_.get(), sections_.devices.at(slot), sections_.devices.stride, budget);
    RecordImage<DeviceInfoRecord> info;
    const CopyOutcome info_outcome =
        info.copy(scan, file_.get(), sections_.device_info.at(slot), sections_.device_info.stride, budget);
    if (outcome == CopyOutcome::Failed || info_outcome == CopyOutcome::Failed ||
        image.word(offsetof(DeviceRecord, state)) != static_cast<std::uint64_t>(DeviceState::Active) ||
        info.word(offsetof(DeviceInfoRecord, valid)) == 0) {
      continue;
    }
    DeviceSnapshot& device = found.emplace_back();
    device.slot = slot;
    device.generation = image.word(offsetof(DeviceRecord, generation));
    device.info = decode_device_info(info);
    std::ranges::copy(image.words(offsetof(DeviceRecord, basis), kBasisWords), device.basis.words.begin());
    device.approximate = outcome != CopyOutcome::Consistent;
  }
  return found;
}

ProcessSnapshot SegmentReader::snapshot(const ReadBudget& budget) const {
  ProcessSnapshot snapshot;
  snapshot.identity = identity_;
  snapshot.pid = visible_pid();
  // The state first: numbers read afterwards from a process found dead are its last.
  snapshot.state = state_of(snapshot.pid);
  const RecordScan records = scan();
  RecordImage<GlobalRecord> image;
  const CopyOutcome outcome =
      image.copy(records, file_.get(), sections_.global.offset, sections_.global.stride, budget);
  snapshot.globals = globals_of(image, outcome);
  snapshot.devices = devices(records, budget);
  snapshot.has_newer_layout = has_newer_layout_;
  return snapshot;
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
  return read_state(file_.get()) == static_cast<std::uint32_t>(SegmentState::Exited) ? ProcessState::Exited
                                                                                     : ProcessState::Killed;
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
