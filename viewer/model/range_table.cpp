#include "viewer/model/range_table.hpp"

#include "viewer/exit_code.hpp"

#include "shared/ranges/table_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tidemark::viewer {
namespace {

using Value = std::uint64_t ranges::RowValues::*;

constexpr std::array<std::pair<std::string_view, Value>, 4> kValues{{{"added", &ranges::RowValues::added_bytes},
                                                                     {"allocated", &ranges::RowValues::allocated_bytes},
                                                                     {"reserved", &ranges::RowValues::reserved_bytes},
                                                                     {"times", &ranges::RowValues::times}}};

std::string device_name(const ProcessView& process, std::uint32_t slot) {
  const auto found =
      std::ranges::find_if(process.devices, [slot](const DeviceView& device) { return device.snapshot.slot == slot; });
  return found == process.devices.end() ? std::string{} : found->name;
}

[[noreturn]] void fail(const ProcessView& process, const Error& error) {
  const bool is_denied = error.code == ErrorCode::PermissionDenied;
  const bool is_other_version = error.code == ErrorCode::WrongVersion;
  throw Failure(is_denied          ? ExitCode::PermissionDenied
                : is_other_version ? ExitCode::WrongLayout
                                   : ExitCode::Failed,
                fmt::format("process {}: its table of ranges cannot be read ({})", process.pid(),
                            is_denied          ? "another user's"
                            : is_other_version ? "of another version"
                                               : "damaged, or not its own"));
}

}  // namespace

std::vector<NamedRange> read_ranges(const ProcessView& process) {
  const Result<ranges::TableReader> reader = ranges::TableReader::beside(*process.reader);
  if (!reader) {
    if (reader.error().code == ErrorCode::NotFound) {
      return {};
    }
    fail(process, reader.error());
  }
  std::vector<NamedRange> found;
  for (ranges::Row& row : reader.value().rows()) {
    found.push_back({.name = std::move(row.name),
                     .device = device_name(process, row.device),
                     .values = row.values,
                     .approximate = row.approximate});
  }
  return found;
}

void sort_ranges(std::vector<NamedRange>& ranges, std::string_view key) {
  if (key == "name") {
    std::ranges::stable_sort(ranges, {}, &NamedRange::name);
    return;
  }
  for (const auto& [name, value] : kValues) {
    if (key == name) {
      std::ranges::stable_sort(ranges, std::ranges::greater{},
                               [wanted = value](const NamedRange& range) { return range.values.*wanted; });
      return;
    }
  }
  throw Failure(ExitCode::Usage, fmt::format("ranges: --sort '{}'; allowed: {}", key, kRangeSortKeys));
}

}  // namespace tidemark::viewer
