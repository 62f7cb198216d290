// What show says of the ways by which a program's calls come, and of what nobody accounts for.
#include "viewer/render/coverage_text.hpp"
#include "viewer/render/show_text.hpp"

#include "tests/viewer/sample_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemark::viewer {
namespace {

TEST(CoverageText, SaysWhatIsSeenOfTheProgramAndWhatIsNot) {
  EXPECT_EQ(
      coverage_text(*sample_view().processes[0].coverage),
      R"(  called through us: linked cuGetExportTable, cuGraphAddMemAllocNode; by dlsym cudaMalloc; by the driver's resolver cuMemAllocAsync, cuMemAlloc_v2
  looked up past us, in another library: cuMemCreate
  not accounted for: cuGraphAddMemAllocNode 2, cuMemAllocAsync 1 (in captures)
  private tables of the driver asked for: 5 (what allocates through one is not seen)
)");
}

TEST(CoverageText, SaysThatNothingIsLeftOut) {
  EXPECT_EQ(coverage_text({{.name = "cudaMalloc", .uses = static_cast<std::uint64_t>(segment::SymbolUse::Entered)}}),
            "  called through us: linked cudaMalloc\n  not accounted for: nothing\n");
  EXPECT_EQ(coverage_text({}), "  called through us: nothing\n  not accounted for: nothing\n");
}

TEST(CoverageText, NamesTheFirstOfMany) {
  segment::CoverageList many;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) {
    many.push_back({.name = name, .uses = static_cast<std::uint64_t>(segment::SymbolUse::Entered)});
  }

  EXPECT_THAT(coverage_text(many), testing::StartsWith("  called through us: linked a, b, c, d and 2 more\n"));
}

TEST(CoverageText, StandsInTheHeadOfShow) {
  EXPECT_THAT(show_text(sample_view().processes[0], kSampleNow, Charset::Utf8),
              testing::HasSubstr("never saw 0\n  called through us: "));
}

}  // namespace
}  // namespace tidemark::viewer
