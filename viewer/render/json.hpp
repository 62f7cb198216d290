// The documents that scripts read: `ps --json`, `show --json`, the results of commands that act. Pure.
//
// Integers in bytes, null for unknown, invalid UTF-8 replaced. Names and nesting are the documented interface.
#pragma once

#include "viewer/model/view.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::viewer {

// Each is one line with its newline.
[[nodiscard]] std::string ps_json(const View& view);
[[nodiscard]] std::string show_json(const ProcessView& process, std::uint64_t time_ns);

// What became of one request to one device of one process.
struct ActResult {
  std::string id;
  std::int64_t pid = 0;
  std::string device;  // "cuda:0"; "all" for a process without devices
  std::string status;  // done, deferred, refused, timeout, gone
  std::string detail;  // empty: null
};

[[nodiscard]] std::string results_json(const std::vector<ActResult>& results);

}  // namespace tidemark::viewer
