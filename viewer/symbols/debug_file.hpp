// One ELF file with what its debug information and symbols say of addresses: functions, inlined ones, files, lines.
// Separate debug information is found by build-id and by .gnu_debuglink; nothing is fetched from a network.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "viewer/symbols/source_frame.hpp"

namespace tidemark::viewer {

class DebugFile {
 public:
  DebugFile(const std::string& path, const std::vector<std::string>& debug_directories);
  ~DebugFile();
  DebugFile(const DebugFile&) = delete;
  DebugFile& operator=(const DebugFile&) = delete;

  // `address` as in the file. Without debug information at most a function's name, and that only where the address lies
  // inside of the symbol: what comes behind an exported function is mostly another that isn't.
  [[nodiscard]] std::vector<SourceFrame> find(std::uint64_t address) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tidemark::viewer
