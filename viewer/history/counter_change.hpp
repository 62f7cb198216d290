// What two `show --json` documents differ in: every counter that isn't the same. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/history/value.hpp"

namespace tidemark::viewer {

struct CounterChange {
  std::string device{};
  std::string counter{};  // "allocated_bytes.all.current", "held.peak_bytes", "cache.hits", "kinds.vmm.current_bytes"
  std::int64_t before = 0;
  std::int64_t after = 0;
};

// Is it such a document?
[[nodiscard]] bool is_show_document(const Value& document);

// In the order of the document. Devices are the same by their name; one that only one of them has is left out.
[[nodiscard]] std::vector<CounterChange> compare_counters(const Value& before, const Value& after);

}  // namespace tidemark::viewer
