// Names of the files: `tidemark.<uid>.<pid>.<nonce>` (counters), the same with `.ctl` (control), `.hist` (history),
// `.ranges` (the table of NVTX ranges), `.snap.<slot>` (a snapshot on its way to who asked for it).
//
// pid is the process's own (its namespace's) and only a label; the nonce, 64 random bits as 16 hex digits, makes a name
// unique. Files being built are called `.tidemark-init.<nonce>[.ctl]`, so that no scan takes them for finished ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shared/segment/text.hpp"

namespace tidemark::segment {

inline constexpr const char* kDefaultDirectory = "/dev/shm";
inline constexpr std::string_view kControlSuffix = ".ctl";
inline constexpr std::string_view kHistorySuffix = ".hist";
inline constexpr std::string_view kRangesSuffix = ".ranges";
inline constexpr std::string_view kSnapshotSuffix = ".snap.";          // then the number of a control slot
inline constexpr std::size_t kMaxSegmentBytes = std::size_t{1} << 20;  // a reader refuses more; ours is 36 KiB

struct SegmentName {
  std::uint32_t uid = 0;
  std::uint32_t pid = 0;
  std::uint64_t nonce = 0;

  friend constexpr bool operator==(const SegmentName&, const SegmentName&) = default;
};

using NameText = Text<72>;

[[nodiscard]] NameText stats_name(const SegmentName& name) noexcept;
[[nodiscard]] NameText control_name(const SegmentName& name) noexcept;
[[nodiscard]] NameText history_name(const SegmentName& name) noexcept;
[[nodiscard]] NameText ranges_name(const SegmentName& name) noexcept;
[[nodiscard]] NameText temporary_name(std::uint64_t nonce, bool control) noexcept;

// The exact inverse of stats_name: leading zeros, other digits' case and anything after the nonce are refused.
[[nodiscard]] std::optional<SegmentName> parse_stats_name(std::string_view file_name) noexcept;
[[nodiscard]] bool is_temporary_name(std::string_view file_name) noexcept;

// What users type and see: the first 8 hex digits of the nonce.
[[nodiscard]] std::string id_of(std::uint64_t nonce);

// TIDEMARK_DIR (secure_getenv), or /dev/shm where it is unset or empty.
[[nodiscard]] const char* configured_directory() noexcept;

}  // namespace tidemark::segment
