// Makes the two files of a segment so that a visible name is complete, locked and has its final mode; and removes them.
//
// Order (each step can be the last one of a killed process): counters under a temporary name, space allocated, mapped,
// filled, locked; control file the same way and renamed; counters' mode set; counters renamed. What a kill leaves
// behind has a temporary name or no counters beside it, and no lock: collect_garbage knows both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "shared/base/result.hpp"
#include "shared/segment/file_handle.hpp"
#include "shared/segment/file_steps.hpp"
#include "shared/segment/mapping.hpp"
#include "shared/segment/text.hpp"
#include "shared/segment/writer.hpp"

namespace tidemark::segment {

using PathText = Text<4352>;

// Others need the space more: Docker gives 64 MiB for everything, NCCL's buffers included.
inline constexpr std::uint64_t kShareOfFreeSpace = 16;

struct SegmentFiles {
  Backing backing = Backing::Named;
  std::uint64_t nonce = 0;
  std::uint32_t uid = 0;  // effective, the files' owner
  std::int64_t creator_pid = 0;
  Mapping stats;    // holds the locks
  Mapping control;  // read-only; empty without a control file
  FileIdentity stats_identity;
  FileIdentity control_identity;
  PathText stats_path;  // empty for a memfd
  PathText control_path;
  FileHandle stats_memfd;  // stay open, so that viewers find them in /proc/PID/fd
  FileHandle control_memfd;
};

// Writes the contents of the counters' file before anybody can see it.
using FillStats = void (*)(std::span<std::byte> memory, std::uint64_t nonce, const WriterOptions& options) noexcept;

// On failure nothing is left behind; `files` is then worthless.
[[nodiscard]] Status create_files(const WriterOptions& options, FillStats fill, SegmentFiles& files) noexcept;

// Only names that still lead to our files.
void remove_names(const SegmentFiles& files) noexcept;

[[nodiscard]] bool is_stats_name_present(const SegmentFiles& files) noexcept;
// See SegmentWriter::check_control, read_control, is_control_locked.
[[nodiscard]] Status check_control_file(const SegmentFiles& files) noexcept;
[[nodiscard]] Status read_control_file(const SegmentFiles& files, std::span<std::byte> into,
                                       std::size_t offset) noexcept;
[[nodiscard]] std::optional<bool> is_control_file_locked(const SegmentFiles& files, std::uint64_t offset) noexcept;

}  // namespace tidemark::segment
