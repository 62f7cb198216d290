// For tests of the commands around snapshots: a directory of files, and the viewer to run in it.
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

#include "tests/shared/scratch.hpp"
#include "tests/viewer/history/sample_memory.hpp"
#include "tests/viewer/history/saved_history.hpp"
#include "tests/viewer/viewer_world.hpp"

namespace tidemark::test {

class SnapshotWorld : public testing::Test {
 protected:
  [[nodiscard]] Launch launch(std::vector<std::string> words) const {
    Launch launch = world_.viewer(std::move(words));
    launch.directory = files_.path();
    launch.environment["TZ"] = "UTC";
    return launch;
  }
  [[nodiscard]] Outcome tidemark(std::vector<std::string> words) const { return run(launch(std::move(words))); }
  [[nodiscard]] std::string path(const std::string& name) const { return files_ / name; }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::ifstream file{path(name)};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

  ShimWorld world_;
  TemporaryDirectory files_;
};

inline std::uint64_t nonce_of(const FakeProcess& process) {
  return std::stoull(process.path().substr(process.path().rfind('.') + 1), nullptr, 16);
}

}  // namespace tidemark::test
