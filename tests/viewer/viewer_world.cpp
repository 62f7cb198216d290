#include "tests/viewer/viewer_world.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <utility>

namespace tidemark::test {
namespace fs = std::filesystem;

LaunchTree::LaunchTree(const std::string& name) {
  std::string pattern = "/tmp/tidemark-launch.XXXXXX";
  base_ = mkdtemp(pattern.data());
  root_ = base_ / name;
  fs::create_directories(root_ / "bin");
  fs::create_directories(root_ / "lib");
  fs::create_directories(root_ / "simulator");
  // A copy: /proc/self/exe of a link leads back to the build.
  fs::copy_file(TIDEMARK_TEST_VIEWER, root_ / "bin/tidemark");
  fs::copy_file(TIDEMARK_TEST_EMPTY_LIBRARY, root_ / "lib/libtidemark.so");
}

LaunchTree::~LaunchTree() {
  std::error_code ignored;
  fs::remove_all(base_, ignored);
}

Outcome LaunchTree::run(std::vector<std::string> words, std::map<std::string, std::string> environment) const {
  words.insert(words.begin(), {tidemark(), "run"});
  environment.emplace("XDG_RUNTIME_DIR", base_.string());
  // Tests preload things into the viewer, which refuses that when it is built with ASan.
  environment.emplace("ASAN_OPTIONS", "verify_asan_link_order=0");
  return test::run({.command = std::move(words), .environment = std::move(environment)});
}

std::string LaunchTree::write(const std::string& name, const std::string& text, int mode) const {
  const fs::path file = base_ / name;
  std::ofstream(file) << text;
  chmod(file.c_str(), static_cast<mode_t>(mode));
  return file.string();
}

}  // namespace tidemark::test
