// Is a history sound? Blocks tile their segments, and the events, taken back one by one from the last, never contradict
// what is there: the way memory_viz walks through a snapshot.
#pragma once

#include <string>

#include "shared/history/history.hpp"

namespace tidemark::test {

// Empty, or what is wrong.
[[nodiscard]] std::string what_is_wrong(const history::Device& device);
[[nodiscard]] std::string what_is_wrong(const history::History& history);

}  // namespace tidemark::test
