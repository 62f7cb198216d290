// What somebody is told whose words are a mistake.
#pragma once

#include "viewer/exit_code.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tidemark::viewer {

// The message of the usage failure that `parse` throws; "" for none.
template <class Parse>
std::string refusal_by(Parse&& parse) {
  try {
    static_cast<void>(parse());
    return "";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::Usage);
    return failure.what();
  }
}

}  // namespace tidemark::viewer
