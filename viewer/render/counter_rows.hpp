// Every counter of a device, and the kinds of memory that are counted and not cached, as the cells of a table. Pure.
#pragma once

#include "shared/base/device_basis.hpp"
#include "shared/base/kind_counts.hpp"

#include <string>
#include <vector>

namespace tidemark::viewer {

// A statistic with its four keys, or a plain counter, which has only `now`.
struct CounterRow {
  std::string name;
  std::string now;
  std::string peak{};
  std::string total_in{};
  std::string total_out{};
  std::string meaning{};
};

[[nodiscard]] std::vector<CounterRow> counter_rows(const DeviceBasis& basis);

struct KindRow {
  std::string name;
  std::string now;
  std::string peak;
  std::string pieces;
  std::string so_far;
  std::string meaning;
};

// Those that the process ever used.
[[nodiscard]] std::vector<KindRow> kind_rows(const DeviceKindCounts& counts);
[[nodiscard]] std::vector<KindRow> kind_rows(const HostKindCounts& counts);

}  // namespace tidemark::viewer
