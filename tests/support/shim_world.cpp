#include "tests/support/shim_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace tidemark::test {

ShimWorld::ShimWorld() : directory_("/tmp/tidemark-test.XXXXXX") {
  if (mkdtemp(directory_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "mkdtemp");
}

ShimWorld::~ShimWorld() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::vector<std::string> ShimWorld::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

Launch ShimWorld::natively(std::vector<std::string> command) {
  return {.command = std::move(command), .environment = {{"LD_LIBRARY_PATH", simulator_directory()}}};
}

Launch ShimWorld::under_shim(std::vector<std::string> command) const {
  Launch launch = natively(std::move(command));
  launch.environment["TIDEMARK_DIR"] = directory_;
  launch.preload = {preload_library()};
  return launch;
}

Launch ShimWorld::viewer(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), TIDEMARK_TEST_VIEWER);
  return {.command = std::move(arguments), .environment = {{"TIDEMARK_DIR", directory_}}};
}

Outcome ShimWorld::tidemark(std::vector<std::string> arguments) const { return run(viewer(std::move(arguments))); }

nlohmann::json ShimWorld::ps() const {
  const Outcome outcome = tidemark({"ps", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << describe(outcome);
  nlohmann::json page = nlohmann::json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(page.is_object() && page.contains("processes")) << describe(outcome);
  return page;
}

nlohmann::json ShimWorld::process(pid_t pid) const {
  nlohmann::json found;
  const nlohmann::json page = ps();
  for (const nlohmann::json& process : page["processes"]) {
    // After an exec the pid has a past: whoever lives wins.
    if (process.value("pid", pid_t{0}) == pid && (found.is_null() || process["state"] == "live")) found = process;
  }
  return found;
}

nlohmann::json ShimWorld::device(pid_t pid, const std::string& name) const {
  const nlohmann::json shown = process(pid);
  if (shown.is_null()) return nullptr;
  for (const nlohmann::json& device : shown["devices"]) {
    if (device.value("device", "") == name) return device;
  }
  return nullptr;
}

std::uint64_t stat_of(const nlohmann::json& device, const std::string& key) {
  if (!device.is_object() || !device["stats"].contains(key)) {
    ADD_FAILURE() << "no " << key << " in " << device.dump(1);
    return 0;
  }
  return device["stats"][key].get<std::uint64_t>();
}

Usage usage_of(const nlohmann::json& device) {
  return {.requested = stat_of(device, "requested_bytes.all.current"),
          .allocated = stat_of(device, "allocated_bytes.all.current"),
          .peak = stat_of(device, "allocated_bytes.all.peak"),
          .reserved = stat_of(device, "reserved_bytes.all.current")};
}

void PrintTo(const Usage& usage, std::ostream* to) {
  *to << "requested " << usage.requested << ", allocated " << usage.allocated << ", peak " << usage.peak
      << ", reserved " << usage.reserved;
}

std::string preload_library() { return TIDEMARK_TEST_PRELOAD; }
std::string simulator_directory() { return TIDEMARK_TEST_SIMULATOR; }
std::string sample(const std::string& name) { return std::string(TIDEMARK_TEST_SAMPLES) + "/" + name; }
std::string test_program(const std::string& name) { return std::string(TIDEMARK_TEST_PROGRAMS) + "/" + name; }

}  // namespace tidemark::test
