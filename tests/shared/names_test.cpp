// Names of segments and control files.
#include "shared/segment/names.hpp"

#include <gtest/gtest.h>

namespace tidemark::segment {
namespace {

TEST(SegmentNames, SayUidPidAndNonce) {
  const SegmentName name{.uid = 1000, .pid = 4711, .nonce = 0x9f3c01aa00000042};

  EXPECT_EQ(stats_name(name).view(), "tidemark.1000.4711.9f3c01aa00000042");
  EXPECT_EQ(control_name(name).view(), "tidemark.1000.4711.9f3c01aa00000042.ctl");
  EXPECT_EQ(history_name(name).view(), "tidemark.1000.4711.9f3c01aa00000042.hist");
  EXPECT_EQ(id_of(name.nonce), "9f3c01aa");
}

TEST(SegmentNames, AreReadBack) {
  const SegmentName largest{.uid = UINT32_MAX, .pid = UINT32_MAX, .nonce = UINT64_MAX};

  EXPECT_EQ(parse_stats_name(stats_name(largest).view()), largest);
  EXPECT_EQ(parse_stats_name(stats_name({}).view()), SegmentName{});
}

TEST(SegmentNames, AreTakenLiterally) {
  for (const char* other : {
           "",
           "tidemark",
           "tidemark.",
           "tidemark.1000.4711",
           "tidemark.1000.4711.",
           "tidemark.1000.4711.9f3c01aa0000004",      // 15 digits
           "tidemark.1000.4711.9f3c01aa000000421",    // 17
           "tidemark.1000.4711.9F3C01AA00000042",     // capitals
           "tidemark.01000.4711.9f3c01aa00000042",    // a leading zero
           "tidemark.-1.4711.9f3c01aa00000042",       //
           "tidemark.4294967296.1.9f3c01aa00000042",  // beyond 32 bits
           "tidemark.1000.4711.9f3c01aa00000042.ctl",
           "tidemark.1000.4711.9f3c01aa00000042/",
           "Tidemark.1000.4711.9f3c01aa00000042",
           ".tidemark-init.9f3c01aa00000042",
       }) {
    EXPECT_EQ(parse_stats_name(other), std::nullopt) << other;
  }
}

TEST(SegmentNames, OfUnfinishedFilesAreNeverListed) {
  const NameText temporary = temporary_name(0x42, true);

  EXPECT_EQ(temporary.view(), ".tidemark-init.0000000000000042.ctl");
  EXPECT_TRUE(is_temporary_name(temporary.view()));
  EXPECT_FALSE(is_temporary_name(stats_name({}).view()));
}

TEST(ConfiguredDirectory, IsSharedMemoryWhereNothingIsSet) {
  ::unsetenv("TIDEMARK_DIR");
  EXPECT_STREQ(configured_directory(), "/dev/shm");

  ::setenv("TIDEMARK_DIR", "", 1);
  EXPECT_STREQ(configured_directory(), "/dev/shm");

  ::setenv("TIDEMARK_DIR", "/somewhere", 1);
  EXPECT_STREQ(configured_directory(), "/somewhere");
  ::unsetenv("TIDEMARK_DIR");
}

}  // namespace
}  // namespace tidemark::segment
