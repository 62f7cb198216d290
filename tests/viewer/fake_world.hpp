// Fake processes for a viewer, or the client library, to look at.
#pragma once

#include "tests/support/run_program.hpp"
#include "tests/support/shim_world.hpp"

#include <string>
#include <vector>

namespace tidemark::test {

// A viewer_fake_process (see fake_process.cpp): lives until finish(), exit() or kill().
class FakeProcess {
 public:
  explicit FakeProcess(const ShimWorld& world, std::vector<std::string> options = {});

  [[nodiscard]] std::string pid() const { return std::to_string(conversation_.pid()); }
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::string& path() const { return path_; }  // of its segment

  void exit();  // as a program that ends
  void kill();  // as kill -9
  void signal(int number) const { conversation_.signal(number); }
  void stop() const;  // and returns when it is

 private:
  Conversation conversation_;
  std::string id_;
  std::string path_;
};

}  // namespace tidemark::test
