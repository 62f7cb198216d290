// The built product beside the simulated devices, and a segment directory of one test's own.
//
// Programs start on the simulated drivers, natively or under the shim; the viewer looks at this directory alone, so
// tests don't see each other. The directory goes with the object. Paths come from the build.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/run_program.hpp"

namespace tidemark::test {

class ShimWorld {
 public:
  ShimWorld();
  ShimWorld(const ShimWorld&) = delete;
  ShimWorld& operator=(const ShimWorld&) = delete;
  ~ShimWorld();

  [[nodiscard]] const std::string& directory() const { return directory_; }
  // Names of everything in the directory, sorted.
  [[nodiscard]] std::vector<std::string> files() const;

  [[nodiscard]] static Launch natively(std::vector<std::string> command);
  [[nodiscard]] Launch under_shim(std::vector<std::string> command) const;
  [[nodiscard]] Launch viewer(std::vector<std::string> arguments) const;
  [[nodiscard]] Outcome tidemark(std::vector<std::string> arguments) const;

  // `tidemark ps --json`; the one process of that pid in it, null where it isn't shown.
  [[nodiscard]] nlohmann::json ps() const;
  [[nodiscard]] nlohmann::json process(pid_t pid) const;
  // That process's device ("cuda:0"), null where it has none of that name.
  [[nodiscard]] nlohmann::json device(pid_t pid, const std::string& name) const;

 private:
  std::string directory_;
};

// What the tests ask most, of a device of ps: every one in bytes.
struct Usage {
  std::uint64_t requested = 0;
  std::uint64_t allocated = 0;
  std::uint64_t peak = 0;
  std::uint64_t reserved = 0;

  bool operator==(const Usage&) const = default;
};
Usage usage_of(const nlohmann::json& device);
void PrintTo(const Usage& usage, std::ostream* to);

// One of the 122 keys ("allocation.all.allocated").
std::uint64_t stat_of(const nlohmann::json& device, const std::string& key);

// Where the build put things.
std::string preload_library();
std::string simulator_directory();
std::string sample(const std::string& name);
std::string test_program(const std::string& name);

}  // namespace tidemark::test
