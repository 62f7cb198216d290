// A running client_api_guest (api_guest.c says which commands it knows).
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>

#include "tests/support/shim_world.hpp"

namespace tidemark::test {

class ApiGuest : public Conversation {
 public:
  // Of `launch` everything but the command.
  explicit ApiGuest(Launch launch) : Conversation(with_command(std::move(launch))) {}

  // The slot of a new block.
  std::string alloc(std::uint64_t size) {
    const std::string answer = ask("alloc " + std::to_string(size));
    EXPECT_TRUE(answer.starts_with("ok ")) << answer;
    return answer.substr(answer.find(' ') + 1);
  }

 private:
  static Launch with_command(Launch launch) {
    launch.command = {test_program("client_api_guest")};
    return launch;
  }
};

inline nlohmann::json read_json(const std::string& path) {
  std::ifstream file{path};
  return nlohmann::json::parse(file, nullptr, false);
}

}  // namespace tidemark::test
