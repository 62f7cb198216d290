#include "viewer/render/counter_rows.hpp"

#include "viewer/number_text.hpp"
#include "viewer/size_text.hpp"

#include "shared/segment/counter_list.hpp"
#include "shared/segment/derive.hpp"

#include <cstddef>
#include <string_view>

namespace tidemark::viewer {
namespace {

using segment::CounterInfo;
using segment::CounterUnit;

std::string value_text(const CounterInfo& info, std::int64_t value) {
  if (value < 0) {
    return info.key == "max_split_size" ? "unlimited" : grouped(value);
  }
  switch (info.unit) {
    case CounterUnit::Bytes:
      return size_column(static_cast<std::uint64_t>(value));
    case CounterUnit::Nanoseconds:
      return time_text(static_cast<std::uint64_t>(value));
    case CounterUnit::Count:
      break;
  }
  return grouped(value);
}

std::string sentence_of(std::string_view meaning) {
  constexpr std::string_view kNow = "Now: ";
  return std::string{meaning.starts_with(kNow) ? meaning.substr(kNow.size()) : meaning};
}

template <class Kind, std::size_t Kinds>
std::vector<KindRow> rows_of_kinds(const KindCounts<Kinds>& counts) {
  std::vector<KindRow> rows;
  for (std::size_t i = 0; i < Kinds; ++i) {
    const KindCount& count = counts.kinds[i];
    const auto kind = static_cast<Kind>(i);
    if (count.total_count > 0) {
      rows.push_back({.name = to_text(kind),
                      .now = size_column(count.current_bytes),
                      .peak = size_column(count.peak_bytes),
                      .pieces = grouped(static_cast<std::int64_t>(count.current_count)),
                      .so_far = grouped(static_cast<std::int64_t>(count.total_count)),
                      .meaning = meaning_of(kind)});
    }
  }
  return rows;
}

}  // namespace

std::vector<CounterRow> counter_rows(const DeviceBasis& basis) {
  std::vector<CounterRow> rows;
  const auto list = segment::counter_list();
  const auto value = [&](std::size_t i) {
    return value_text(list[i], segment::stat_value(basis, segment::StatKey{static_cast<std::uint32_t>(i)}));
  };
  constexpr std::string_view kFirst = ".allocated";  // then come current, freed, peak: the list is sorted
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].key.ends_with(kFirst)) {
      const std::string_view name = list[i].key.substr(0, list[i].key.size() - kFirst.size());
      rows.push_back({.name = std::string{name},
                      .now = value(i + 1),
                      .peak = value(i + 3),
                      .total_in = value(i),
                      .total_out = value(i + 2),
                      .meaning = sentence_of(list[i + 1].meaning)});
      i += 3;
    } else {
      rows.push_back({.name = std::string{list[i].key}, .now = value(i), .meaning = sentence_of(list[i].meaning)});
    }
  }
  const auto extras = segment::extra_list();
  for (std::size_t i = 0; i < extras.size(); ++i) {
    rows.push_back({.name = std::string{extras[i].key},
                    .now = value_text(extras[i], segment::extra_value(basis, static_cast<segment::ExtraKey>(i))),
                    .meaning = sentence_of(extras[i].meaning)});
  }
  return rows;
}

std::vector<KindRow> kind_rows(const DeviceKindCounts& counts) { return rows_of_kinds<DeviceKind>(counts); }

std::vector<KindRow> kind_rows(const HostKindCounts& counts) { return rows_of_kinds<HostKind>(counts); }

}  // namespace tidemark::viewer
