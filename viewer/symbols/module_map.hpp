// Whose an address was: the objects of a process, and when each was loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::viewer {

struct LoadedModule {
  std::uint64_t base = 0;  // added to the addresses in the file
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::string build_id;  // hexadecimal; empty: unknown, or it has none
  std::string path;      // as the process saw it
  std::uint64_t listed_ns = 0;
  std::uint64_t gone_ns = 0;  // 0: not seen to be gone
};

class ModuleMap {
 public:
  explicit ModuleMap(std::vector<LoadedModule> modules) : modules_(std::move(modules)) {}

  // The one that was there at that time. Objects are listed after they are loaded, and found gone after they went: else
  // the first that was listed later, else the last before. Null: none had this address.
  [[nodiscard]] const LoadedModule* find(std::uint64_t address, std::uint64_t time_ns) const;

  // Of a process that still runs: what it has mapped, and no stack of its led through.
  void add_unlisted(const std::vector<LoadedModule>& mapped);

  [[nodiscard]] const std::vector<LoadedModule>& modules() const { return modules_; }

 private:
  std::vector<LoadedModule> modules_;
};

}  // namespace tidemark::viewer
