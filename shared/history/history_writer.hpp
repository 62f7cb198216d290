// The host process's side of its history: makes the file beside its segment, lets it grow by a device, removes it.
//
// Threads: one at a time for everything here; what it hands out has rules of its own. Nothing else may use that any
// more when the writer is destroyed. Errors: as SegmentWriter; NoSpace also where the file would take more of what is
// left than it should (kShareOfSpace, kShareOfMemory). All space is taken beforehand: a full disk is an error here and
// no SIGBUS later.
// Fork: the mappings are not inherited, as a segment's.
#pragma once

#include <cstdint>
#include <memory>

#include "shared/base/result.hpp"
#include "shared/history/device_writer.hpp"
#include "shared/history/process_tables.hpp"
#include "shared/history/table_sizes.hpp"

namespace tidemark::history {

// Of the directory's free space and of the machine's (or the container's) available memory: a history shall not be what
// a program fails of.
inline constexpr std::uint64_t kShareOfSpace = 2;
inline constexpr std::uint64_t kShareOfMemory = 4;

class HistoryWriter {
 public:
  // `segment_path` is the counters' file, whose directory, owner and mode the history gets too.
  [[nodiscard]] static Result<HistoryWriter> create(const char* segment_path, std::uint64_t nonce,
                                                    const Settings& settings) noexcept;
  HistoryWriter(HistoryWriter&&) noexcept;
  HistoryWriter& operator=(HistoryWriter&&) noexcept;
  // Unmaps, and leaves the file.
  ~HistoryWriter();

  // Room for one more device, not shown yet: describe() and open() do that. NoSpace also when all 16 are taken.
  [[nodiscard]] Result<DeviceWriter> add_device() noexcept;

  [[nodiscard]] ProcessTables& tables() noexcept;
  [[nodiscard]] const Settings& settings() const noexcept;
  [[nodiscard]] std::uint64_t start_realtime_ns() const noexcept;
  [[nodiscard]] std::uint64_t start_monotonic_ns() const noexcept;
  [[nodiscard]] const char* path() const noexcept;

  // Any thread, one at a time.
  void set_beat(std::uint64_t number, std::uint64_t now_ns) noexcept;

  // If the name still leads to what create() made.
  void remove_file() noexcept;

 private:
  struct State;
  explicit HistoryWriter(std::unique_ptr<State> state) noexcept;

  std::unique_ptr<State> state_;
};

// Is there room for that many bytes of history beside this segment? NoSpace; or System, NotFound: it can't be told.
[[nodiscard]] Status check_room_beside(const char* segment_path, std::uint64_t bytes) noexcept;

// What a history with this many devices takes, in bytes.
[[nodiscard]] std::uint64_t history_bytes(const Settings& settings, std::size_t devices) noexcept;

}  // namespace tidemark::history
