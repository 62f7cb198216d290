// Paths with places to fill in.
#include "shim/runtime/path_pattern.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cctype>
#include <string>

namespace tidemark::runtime {
namespace {

std::string filled(std::string_view pattern, std::uint64_t number = 1) {
  PathText path;
  fill_in(path, pattern, number);
  return std::string{path.view()};
}

TEST(PathPattern, FillsInWhatItNames) {
  EXPECT_EQ(filled("/tmp/plain"), "/tmp/plain");
  EXPECT_EQ(filled("/tmp/%p-%n", 3), "/tmp/" + std::to_string(::getpid()) + "-3");
  EXPECT_EQ(filled("%e"), "shim_runtime_test");
  EXPECT_FALSE(filled("%h").empty());
  const std::string time = filled("%t");
  ASSERT_EQ(time.size(), 15U);
  EXPECT_EQ(time[8], '-');
  EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(time[0])) != 0);
}

TEST(PathPattern, LeavesWhatItDoesNotKnow) {
  EXPECT_EQ(filled("100%%"), "100%");
  EXPECT_EQ(filled("%x/%"), "%x/%");
  EXPECT_EQ(filled(""), "");
}

TEST(PathPattern, CutsOffWhatIsTooLong) { EXPECT_EQ(filled(std::string(5000, 'a')).size(), 4095U); }

}  // namespace
}  // namespace tidemark::runtime
