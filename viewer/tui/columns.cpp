#include "viewer/tui/columns.hpp"

#include "viewer/number_text.hpp"
#include "viewer/render/ps_text.hpp"
#include "viewer/size_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tidemark::viewer {
namespace {

constexpr int kNarrowestTitle = 16;  // the last column takes what is left, and needs that much
constexpr int kRetryDigits = 7;
constexpr int kOomDigits = 5;

template <auto Member>
std::string size_of(const Row& row, std::uint64_t) {
  return row.device == nullptr ? "-" : size_column(row.device->figures.*Member);
}

template <auto Member>
std::optional<std::uint64_t> number_of(const Row& row) {
  return row.device == nullptr ? std::nullopt : std::optional<std::uint64_t>{row.device->figures.*Member};
}

template <auto Member, int Digits>
std::string count_of(const Row& row, std::uint64_t) {
  return row.device == nullptr ? "-" : count_text(row.device->figures.*Member, Digits);
}

std::string since_text(const Row& row, std::uint64_t now_ns) {
  constexpr std::uint64_t kDay = 86400ULL * 1'000'000'000;
  if (row.device == nullptr) {
    return "-";
  }
  const std::uint64_t since = row.device->peak_since_ns;
  const std::uint64_t apart = now_ns > since ? now_ns - since : 0;
  return apart < kDay ? clock_text(since, now_ns) : fmt::format("{} d ago", std::min<std::uint64_t>(apart / kDay, 999));
}

std::string use_text(const Row& row, std::uint64_t) {
  const auto use = use_of(row);
  if (!use) {
    return "-";
  }
  const auto percent = static_cast<double>(use->part) * 100 / static_cast<double>(use->whole);
  return fmt::format("{:.0f}%{}", std::min(percent, 999.0), use->of_limit ? 'L' : ' ');
}

std::optional<std::uint64_t> use_number(const Row& row) {
  const auto use = use_of(row);
  constexpr double kDigits = 1e9;
  return use ? std::optional{static_cast<std::uint64_t>(static_cast<double>(use->part) /
                                                        static_cast<double>(use->whole) * kDigits)}
             : std::nullopt;
}

std::optional<std::uint64_t> hit_number(const Row& row) {
  if (row.device == nullptr || !row.device->figures.hit_percent) {
    return std::nullopt;
  }
  constexpr double kDigits = 1e6;
  return static_cast<std::uint64_t>(*row.device->figures.hit_percent * kDigits);
}

// By backend, then by number: as texts, 10 would come before 9.
std::optional<std::uint64_t> device_number(const Row& row) {
  if (row.device == nullptr) {
    return std::nullopt;
  }
  const segment::DeviceInfo& info = row.device->snapshot.info;
  return (static_cast<std::uint64_t>(info.backend) << 32) | info.ordinal;
}

constexpr std::array<Column, kColumnCount> kColumns{{
    {ColumnId::Id, "ID", 8, false, 8, [](const Row& row, std::uint64_t) { return row.process->id(); }, nullptr, false,
     "names the process for other commands; never used again"},
    {ColumnId::Pid, "PID", 7, true, 0,
     [](const Row& row, std::uint64_t) { return row.process->pid() > 0 ? fmt::format("{}", row.process->pid()) : "-"; },
     [](const Row& row) { return std::optional{static_cast<std::uint64_t>(row.process->pid())}; }, false,
     "the process"},
    {ColumnId::Device, "DEVICE", 8, false, 0,
     [](const Row& row, std::uint64_t) { return row.device == nullptr ? "-" : row.device->name; }, device_number, false,
     "by the process's own number"},
    {ColumnId::State, "STATE", 8, false, 6,
     [](const Row& row, std::uint64_t) { return std::string{to_text(row.process->snapshot.state)}; }, nullptr, false,
     "live, stopped, exited, killed, replaced"},
    {ColumnId::Held, "HELD", 9, true, 1, size_of<&Figures::held>, number_of<&Figures::held>, true,
     "of the device, by the process: reserved and the other kinds"},
    {ColumnId::Allocated, "ALLOCATED", 9, true, 0, size_of<&Figures::allocated>, number_of<&Figures::allocated>, true,
     "in the program's hands"},
    {ColumnId::Peak, "PEAK", 9, true, 0, size_of<&Figures::allocated_peak>, number_of<&Figures::allocated_peak>, true,
     "most allocated at once since SINCE"},
    {ColumnId::Since, "SINCE", 8, true, 9, since_text,
     [](const Row& row) { return row.device == nullptr ? std::nullopt : std::optional{row.device->peak_since_ns}; },
     true, "the last reset of the peaks, or the start"},
    {ColumnId::Reserved, "RESERVED", 9, true, 3, size_of<&Figures::reserved>, number_of<&Figures::reserved>, true,
     "taken from the driver: allocated, pending and cached"},
    {ColumnId::Cached, "CACHED", 9, true, 5, size_of<&Figures::cached>, number_of<&Figures::cached>, true,
     "free for the program's next allocation"},
    {ColumnId::Use, "USE", 14, false, 4, use_text, use_number, true,
     "held of the device's memory; with L: reserved of the limit"},
    {ColumnId::HitRate, "HIT%", 5, true, 2,
     [](const Row& row, std::uint64_t) {
       return row.device == nullptr ? "-" : percent_text(row.device->figures.hit_percent);
     },
     hit_number, true, "allocations that needed nothing of the driver"},
    {ColumnId::Retries, "RETRIES", kRetryDigits, true, 10, count_of<&Figures::retries, kRetryDigits>,
     number_of<&Figures::retries>, true, "times that the cache was given back for want of memory"},
    {ColumnId::Ooms, "OOMS", kOomDigits, true, 7, count_of<&Figures::ooms, kOomDigits>, number_of<&Figures::ooms>, true,
     "allocations that failed for want of memory"},
    {ColumnId::Title, "LABEL/COMMAND", 0, false, 0, [](const Row& row, std::uint64_t) { return row.process->title(); },
     nullptr, false, "TIDEMARK_LABEL, and the program"},
}};

}  // namespace

std::span<const Column, kColumnCount> all_columns() { return kColumns; }

const Column& column_of(ColumnId id) { return kColumns[static_cast<std::size_t>(id)]; }

std::vector<PlacedColumn> columns_for(int width) {
  std::array<bool, kColumnCount> chosen{};
  int used = kMarkColumns - 1;
  for (const Column& column : kColumns) {
    if (column.rank == 0 && column.width > 0) {
      chosen[static_cast<std::size_t>(column.id)] = true;
      used += column.width + 1;
    }
  }
  if (used + 1 + kNarrowestTitle <= width) {
    chosen.back() = true;
    used += 1 + kNarrowestTitle;
  }
  for (int rank = 1; rank <= static_cast<int>(kColumnCount); ++rank) {
    for (const Column& column : kColumns) {
      if (column.rank == rank && used + 1 + column.width <= width) {
        chosen[static_cast<std::size_t>(column.id)] = true;
        used += column.width + 1;
      }
    }
  }
  std::vector<PlacedColumn> placed;
  int at = kMarkColumns;
  for (const Column& column : kColumns) {
    if (chosen[static_cast<std::size_t>(column.id)]) {
      placed.push_back({.id = column.id, .at = at, .width = column.width > 0 ? column.width : width - at});
      at += column.width + 1;
    }
  }
  return placed;
}

std::optional<Use> use_of(const Row& row) {
  if (row.device == nullptr) {
    return std::nullopt;
  }
  const Figures& figures = row.device->figures;
  if (figures.limit) {
    return Use{.part = figures.reserved, .whole = *figures.limit, .of_limit = true};
  }
  if (figures.capacity) {
    return Use{.part = figures.held, .whole = *figures.capacity, .of_limit = false};
  }
  return std::nullopt;
}

std::string count_text(std::uint64_t count, std::size_t width) {
  std::string text = fmt::format("{}", count);
  for (const char unit : {'k', 'M', 'G', 'T', 'P', 'E'}) {
    if (text.size() <= width) {
      break;
    }
    count /= 1000;
    text = fmt::format("{}{}", count, unit);
  }
  return text;
}

}  // namespace tidemark::viewer
