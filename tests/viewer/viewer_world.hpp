// The built viewer, fake processes for it to look at, and a segment directory of one test's own.
#pragma once

#include "tests/support/run_program.hpp"
#include "tests/support/shim_world.hpp"
#include "tests/viewer/fake_world.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace tidemark::test {

// A copy of the viewer beside an empty libtidemark.so, laid out as a build tree under `base`.
class LaunchTree {
 public:
  explicit LaunchTree(const std::string& name = "tree");
  LaunchTree(const LaunchTree&) = delete;
  LaunchTree& operator=(const LaunchTree&) = delete;
  ~LaunchTree();

  [[nodiscard]] const std::filesystem::path& base() const { return base_; }
  [[nodiscard]] std::string tidemark() const { return (root_ / "bin/tidemark").string(); }
  [[nodiscard]] std::string library() const { return (root_ / "lib/libtidemark.so").string(); }
  [[nodiscard]] std::string simulator() const { return (root_ / "simulator").string(); }

  // Runs `tidemark run` with these words.
  [[nodiscard]] Outcome run(std::vector<std::string> words, std::map<std::string, std::string> environment = {}) const;

  // An executable file in base()/bin.
  std::string write(const std::string& name, const std::string& text, int mode = 0755) const;

 private:
  std::filesystem::path base_;
  std::filesystem::path root_;
};

}  // namespace tidemark::test
