// The settings of a simulated driver, from the environment: PREFIX_SIM_DEVICES, _DRAM or _MEMORY, _ALLOC_US, _FREE_US,
// _FAIL, _TRACE, _CLOCK, _SHARED. A value that can't be used costs one line on stderr and counts as not set; so does a
// PREFIX_SIM_ name that doesn't exist.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sim {

// `NAME:3` the third call of NAME, `NAME:3+` from the third call on, `NAME:3=700` with that code of the driver.
struct FailRule {
  std::string call;
  std::uint64_t nth = 1;
  bool onwards = false;
  std::optional<int> code{};
};

struct Knobs {
  int devices = 2;
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;
  std::uint64_t alloc_us = 0;
  std::uint64_t free_us = 0;
  std::vector<FailRule> fail{};  // comma-separated in the variable
  std::string trace{};           // file; empty: none
  bool manual_clock = false;
  std::string shared{};  // NAME; empty: capacity is this process's own
};

// `prefix`: "MTIA", "CUDA"; `memory_word`: "DRAM", "MEMORY"; `more`: words of settings that the driver reads itself.
Knobs read_knobs(std::string_view prefix, std::string_view memory_word,
                 std::initializer_list<std::string_view> more = {});

// `512`, `64K` = `64KiB`, `1.5GiB`, `8G` (= GiB), `8GB` (= 10^9). Nothing for anything else, or what doesn't fit 63
// bits.
std::optional<std::uint64_t> parse_size(std::string_view text);
std::optional<std::vector<FailRule>> parse_fail_rules(std::string_view text);

}  // namespace sim
