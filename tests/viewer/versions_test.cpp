// Segments that another version of the library wrote.
#include "tests/viewer/viewer_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace tidemark::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr std::streamoff kMajor = 8;  // where the head has them
constexpr std::streamoff kMinor = 10;

class Versions : public testing::Test {
 protected:
  // What a killed process left, with another number in its head.
  void write_version(std::streamoff at) {
    process_.kill();
    ASSERT_EQ(chmod(process_.path().c_str(), 0600), 0);
    std::fstream file(process_.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put('\x63');
  }

  const ShimWorld world_;
  FakeProcess process_{world_};
};

TEST_F(Versions, AnotherMajorIsRefusedWithWhatToDo) {
  write_version(kMajor);

  const Outcome shown = world_.tidemark({"show", process_.pid()});
  const Outcome listed = world_.tidemark({"ps"});

  EXPECT_EQ(shown.exit_code, 5) << describe(shown);
  EXPECT_THAT(shown.err, HasSubstr("made by another version of Tidemark"));
  EXPECT_THAT(shown.err, HasSubstr("use the tidemark that came with its library"));
  EXPECT_EQ(listed.exit_code, 0) << describe(listed);
  EXPECT_THAT(listed.err, HasSubstr("made by another version of Tidemark"));
}

TEST_F(Versions, ANewerMinorIsShownAsFarAsItIsKnown) {
  write_version(kMinor);

  const Outcome shown = world_.tidemark({"show", process_.pid()});

  EXPECT_EQ(shown.exit_code, 0) << describe(shown);
  EXPECT_THAT(shown.out, HasSubstr("written by a newer version: what this one does not know is left out"));
  EXPECT_THAT(shown.out, HasSubstr("= reserved"));
  EXPECT_EQ(json::parse(world_.tidemark({"ps", "--json"}).out).at("processes").size(), 1U);
}

}  // namespace
}  // namespace tidemark::test
