#include "shared/history/history_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <new>
#include <string_view>
#include <utility>

#include "shared/base/scratch.hpp"
#include "shared/history/available_memory.hpp"
#include "shared/history/layout.hpp"
#include "shared/segment/file_beside.hpp"
#include "shared/segment/mapping.hpp"
#include "shared/segment/names.hpp"
#include "shared/segment/own_identity.hpp"
#include "shared/segment/sequence.hpp"

namespace tidemark::history {
namespace {

using segment::FileBeside;
using segment::FileHandle;
using segment::FileIdentity;
using segment::Mapping;
using segment::store_word;
using segment::system_error;

// A container's limit of memory counts what lies in /dev/shm, so what is on a disk is checked against it in vain only
// where it would be close anyway.
Status check_room(const char* directory, std::uint64_t bytes) noexcept {
  const Status space = segment::check_space(directory, bytes, kShareOfSpace);
  return space && bytes > available_memory() / kShareOfMemory ? Status{system_error(ENOSPC)} : space;
}

}  // namespace

struct HistoryWriter::State {
  Settings settings;
  FileWords words;
  FileBeside file;
  std::uint64_t total_bytes = 0;
  Mapping process;  // holds the lock
  std::array<Mapping, kDeviceRecords> areas;
  std::size_t devices = 0;
  Layout* layout = nullptr;
  alignas(ProcessTables) std::byte tables_place[sizeof(ProcessTables)];
  bool has_tables = false;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (has_tables) {
      tables().~ProcessTables();
    }
  }

  [[nodiscard]] ProcessTables& tables() noexcept {
    return *std::launder(reinterpret_cast<ProcessTables*>(tables_place));
  }

  [[nodiscard]] Status make(const char* segment_path, std::uint64_t nonce) noexcept;
  [[nodiscard]] Status fill(int fd) noexcept;
  [[nodiscard]] Result<FileHandle> open_for_growth() const noexcept;
};

Status HistoryWriter::State::make(const char* segment_path, std::uint64_t nonce) noexcept {
  if (const Status placed = file.place(segment_path, segment::kHistorySuffix); !placed) {
    return placed;
  }
  words = {.nonce = nonce,
           .pid = static_cast<std::uint64_t>(::getpid()),
           .settings = settings,
           .start_realtime_ns = segment::clock_ns(CLOCK_REALTIME),
           .start_monotonic_ns = segment::clock_ns(CLOCK_MONOTONIC)};
  // With its first device, so that it isn't refused after it was granted.
  if (const Status room = check_room(file.directory(), history_bytes(settings, 1)); !room) {
    return room;
  }
  const Result<FileHandle> made = file.create(nonce);
  return made ? file.finish(made.value().get(), fill(made.value().get())) : Status{made.error()};
}

Status HistoryWriter::State::fill(int fd) noexcept {
  const ProcessSizes sizes = process_sizes(settings);
  total_bytes = first_area_offset(sizes);
  Result<Mapping> mapped = file.map(fd, total_bytes);
  if (!mapped) {
    return mapped.error();
  }
  process = std::move(mapped).value();
  layout = new (process.address()) Layout{};
  fill_process_words(*layout, words, sizes, total_bytes);
  new (tables_place) ProcessTables(*layout, process.address(), sizes);
  has_tables = true;
  return {};
}

// Its mode lets nobody write, its owner neither, except for this moment.
Result<FileHandle> HistoryWriter::State::open_for_growth() const noexcept {
  const FileHandle named{::open(file.path(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
  const Result<FileIdentity> found = segment::identity_of(named.get());
  if (!found || found.value() != file.identity()) {
    return Error{ErrorCode::NotFound, ENOENT};
  }
  char link[32];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", named.get());
  if (::fchmod(named.get(), file.mode() | 0200) != 0) {
    return system_error(errno);
  }
  FileHandle writable{::open(link, O_RDWR | O_CLOEXEC)};
  const int failure = errno;
  ::fchmod(named.get(), file.mode());
  return writable ? Result<FileHandle>{std::move(writable)} : system_error(failure);
}

HistoryWriter::HistoryWriter(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
HistoryWriter::HistoryWriter(HistoryWriter&&) noexcept = default;
HistoryWriter& HistoryWriter::operator=(HistoryWriter&&) noexcept = default;
HistoryWriter::~HistoryWriter() = default;

Result<HistoryWriter> HistoryWriter::create(const char* segment_path, std::uint64_t nonce,
                                            const Settings& settings) noexcept {
  std::unique_ptr<State> state{new (std::nothrow) State};
  if (!state) {
    return Error{ErrorCode::System, ENOMEM};
  }
  if (settings.enabled == Enabled::Off || settings.max_entries > kMostEntries) {
    return Error{ErrorCode::InvalidValue, EINVAL};
  }
  state->settings = settings;
  if (const Status made = state->make(segment_path, nonce); !made) {
    return made.error();
  }
  return HistoryWriter{std::move(state)};
}

Result<DeviceWriter> HistoryWriter::add_device() noexcept {
  State& state = *state_;
  if (state.devices == kDeviceRecords) {
    return Error{ErrorCode::NoSpace, 0};
  }
  const DeviceSizes sizes = device_sizes(state.settings);
  const std::uint64_t bytes = area_bytes(sizes);
  if (const Status room = check_room(state.file.directory(), bytes); !room) {
    return room.error();
  }
  const Result<FileHandle> file = state.open_for_growth();
  if (!file) {
    return file.error();
  }
  const std::uint64_t offset = state.total_bytes;
  if (const Status allocated = segment::allocate(file.value().get(), offset + bytes); !allocated) {
    (void)!::ftruncate(file.value().get(), static_cast<off_t>(offset));
    return allocated.error();
  }
  Result<Mapping> mapped = Mapping::of(file.value().get(), segment::MapMode::ReadWrite, bytes, offset);
  if (!mapped) {
    (void)!::ftruncate(file.value().get(), static_cast<off_t>(offset));
    return mapped.error();
  }
  state.total_bytes += bytes;
  store_word(state.layout->head.total_bytes, state.total_bytes);
  state.areas[state.devices] = std::move(mapped).value();
  std::byte* const area = state.areas[state.devices].address();
  return DeviceWriter{state.layout->devices[state.devices++], area, offset, sizes};
}

ProcessTables& HistoryWriter::tables() noexcept { return state_->tables(); }
const Settings& HistoryWriter::settings() const noexcept { return state_->settings; }
std::uint64_t HistoryWriter::start_realtime_ns() const noexcept { return state_->words.start_realtime_ns; }
std::uint64_t HistoryWriter::start_monotonic_ns() const noexcept { return state_->words.start_monotonic_ns; }
const char* HistoryWriter::path() const noexcept { return state_->file.path(); }

void HistoryWriter::set_beat(std::uint64_t number, std::uint64_t now_ns) noexcept {
  store_word(state_->layout->info.beat_monotonic_ns, now_ns);
  store_word(state_->layout->info.beat, number);
}

void HistoryWriter::remove_file() noexcept { state_->file.remove(); }

Status check_room_beside(const char* segment_path, std::uint64_t bytes) noexcept {
  const std::string_view segment{segment_path};
  const Scratch<segment::PathText> directory;
  if (!directory) {
    return system_error(ENOMEM);
  }
  directory->assign(segment.substr(0, segment.rfind('/')));
  return check_room(directory->c_str(), bytes);
}

std::uint64_t history_bytes(const Settings& settings, std::size_t devices) noexcept {
  return first_area_offset(process_sizes(settings)) + devices * area_bytes(device_sizes(settings));
}

}  // namespace tidemark::history
