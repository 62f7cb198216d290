#include "shared/history/reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "shared/history/read_device.hpp"
#include "shared/history/read_tables.hpp"
#include "shared/segment/mapping.hpp"
#include "shared/segment/names.hpp"

namespace tidemark::history {
namespace {

using InfoImage = RecordImage<InfoRecord>;

Status check_head(const WordFile& file) noexcept {
  RecordImage<Head> head;
  if (!file.read(0, head.words_up_to(sizeof(Head))) || head.word(offsetof(Head, magic)) != kMagic) {
    return Error{ErrorCode::BadFormat};
  }
  const Status version = kVersion.check(head.word(offsetof(Head, version)), head.word(offsetof(Head, layout_hash)));
  if (!version) {
    return version;
  }
  if (head.word(offsetof(Head, state)) != 1 || file.bytes() < kTablesOffset) {
    return Error{ErrorCode::BadFormat};
  }
  return {};
}

InfoImage read_info(const WordFile& file) noexcept {
  InfoImage info;
  if (!file.read(offsetof(Layout, info), info.words_up_to(sizeof(InfoRecord)))) {
    return {};
  }
  return info;
}

TimeBase time_base_of(const InfoImage& info) noexcept {
  return {.realtime_ns = info.word(offsetof(InfoRecord, start_realtime_ns)),
          .monotonic_ns = info.word(offsetof(InfoRecord, start_monotonic_ns)),
          .beat = info.word(offsetof(InfoRecord, beat)),
          .beat_monotonic_ns = info.word(offsetof(InfoRecord, beat_monotonic_ns))};
}

// What we don't know reads as the first one.
template <class Enum>
Enum enum_of(std::uint64_t word, Enum last) noexcept {
  return word <= static_cast<std::uint64_t>(last) ? static_cast<Enum>(word) : Enum{};
}

}  // namespace

Result<HistoryReader> HistoryReader::open(const std::string& path) {
  const int no_link = path.ends_with(segment::kHistorySuffix) ? O_NOFOLLOW : 0;
  segment::FileHandle file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | no_link)};
  if (!file) {
    return errno == ELOOP || errno == ENXIO ? Error{ErrorCode::BadFormat, errno} : segment::system_error(errno);
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) {
    return segment::system_error(errno);
  }
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::BadFormat};
  }
  HistoryReader reader;
  reader.file_ = WordFile{std::move(file)};
  reader.path_ = path;
  if (const Status sound = check_head(reader.file_); !sound) {
    return sound.error();
  }
  return reader;
}

Result<HistoryReader> HistoryReader::beside(const segment::SegmentReader& segment) {
  Result<HistoryReader> reader = open(segment.path() + std::string{segment::kHistorySuffix});
  if (!reader) {
    return reader;
  }
  struct stat info {};
  // In a directory that everybody may write, the name alone could be anybody's.
  if (::fstat(reader.value().file_.fd(), &info) != 0 || info.st_uid != segment.identity().file_uid ||
      reader.value().recording().nonce != segment.identity().nonce) {
    return Error{ErrorCode::BadFormat};
  }
  return reader;
}

Recording HistoryReader::recording() const {
  const InfoImage info = read_info(file_);
  const TimeBase time = time_base_of(info);
  Recording recording;
  std::uint64_t nonce = 0;
  static_cast<void>(file_.read(offsetof(Head, nonce), {&nonce, 1}));
  recording.kind =
      info.word(offsetof(InfoRecord, kind)) == static_cast<std::uint64_t>(Kind::Snapshot) ? Kind::Snapshot : Kind::Live;
  recording.reason = enum_of(info.word(offsetof(InfoRecord, reason)), Reason::OutOfMemory);
  recording.nonce = nonce;
  const std::uint64_t pid = info.word(offsetof(InfoRecord, pid));
  recording.pid = pid > INT32_MAX ? 0 : static_cast<std::int64_t>(pid);
  recording.label = info.text(offsetof(InfoRecord, label), sizeof(InfoRecord::label) / sizeof(std::uint64_t));
  recording.command = info.text(offsetof(InfoRecord, command), sizeof(InfoRecord::command) / sizeof(std::uint64_t));
  recording.enabled = enum_of(info.word(offsetof(InfoRecord, enabled)), Enabled::All);
  recording.stacks = enum_of(info.word(offsetof(InfoRecord, stacks)), Stacks::All);
  recording.max_entries = info.word(offsetof(InfoRecord, max_entries));
  recording.since_ns = time.realtime_ns;
  if (const std::uint64_t taken = info.word(offsetof(InfoRecord, taken_monotonic_ns)); taken != 0) {
    recording.taken_ns = time.realtime_of(taken);
  }
  recording.python_omitted = info.word(offsetof(InfoRecord, python_omitted));
  recording.lost = info.word(offsetof(InfoRecord, stacks_lost)) + info.word(offsetof(InfoRecord, strings_lost)) +
                   info.word(offsetof(InfoRecord, modules_lost));
  for (std::size_t i = 0; i < kDeviceRecords; ++i) {
    const DeviceLosses losses = read_losses(file_, i);
    recording.lost += losses.events + losses.changes;
  }
  return recording;
}

Result<History> HistoryReader::read(const segment::ReadBudget& budget) const {
  History history;
  const InfoImage info = read_info(file_);
  const TimeBase time = time_base_of(info);
  for (std::size_t i = 0; i < kDeviceRecords; ++i) {
    if (std::optional<Device> device = read_device(file_, i, time, budget)) {
      history.devices.push_back(std::move(*device));
    }
  }
  // After the events that name them. The counts are read again: more may be there by now.
  read_tables(file_, read_info(file_), time, history);
  history.recording = recording();
  return history;
}

}  // namespace tidemark::history
