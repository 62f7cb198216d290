// The expressions that linkers, compilers and hand-written code have in their tables, byte for byte.
#include "shim/stacks/call_frame_expression.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace tidemark::stacks {
namespace {

using Bytes = std::vector<unsigned char>;

std::optional<Place> place_of(const Bytes& bytes, std::uintptr_t pc, bool starts_with_cfa = false) {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  Place place;
  return evaluate({begin, begin + bytes.size()}, pc, starts_with_cfa, place) ? std::optional{place} : std::nullopt;
}

void expect_place(const std::optional<Place>& place, Base base, std::int64_t offset, bool indirect,
                  std::int64_t added) {
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->base, base);
  EXPECT_EQ(place->offset, offset);
  EXPECT_EQ(place->indirect, indirect);
  EXPECT_EQ(place->added, added);
}

// breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus: a PLT stub pushes in its eleventh byte.
TEST(CallFrameExpression, OfAProcedureLinkageTableDependsOnTheAddress) {
  const Bytes plt{0x77, 0x08, 0x80, 0x00, 0x3F, 0x1A, 0x3B, 0x2A, 0x33, 0x24, 0x22};

  expect_place(place_of(plt, 0x40100A), Base::StackPointer, 8, false, 0);
  expect_place(place_of(plt, 0x40100B), Base::StackPointer, 16, false, 0);
}

TEST(CallFrameExpression, OfARealignedStackIsWhatIsStoredBelowItsFramePointer) {
  expect_place(place_of({0x76, 0x78, 0x06}, 0), Base::FramePointer, -8, true, 0);  // breg6 -8; deref
  expect_place(place_of({0x76, 0x00}, 0, true), Base::FramePointer, 0, false, 0);  // breg6 0
  expect_place(place_of({0x77, 0x08, 0x06, 0x23, 0x08}, 0), Base::StackPointer, 8, true,
               8);                                                         // OpenSSL: ...; plus_uconst 8
  expect_place(place_of({0x23, 0x10}, 0, true), Base::Cfa, 16, false, 0);  // plus_uconst 16, from the CFA
}

TEST(CallFrameExpression, IsNothingWhereItIsNoPlace) {
  EXPECT_FALSE(place_of({}, 0));
  EXPECT_FALSE(place_of({0x31}, 0)) << "a number";
  EXPECT_FALSE(place_of({0x73, 0x00}, 0)) << "another register";
  EXPECT_FALSE(place_of({0x77, 0x08, 0x06, 0x06}, 0)) << "what is stored where something is stored";
  EXPECT_FALSE(place_of({0x77}, 0)) << "cut off";
  EXPECT_FALSE(place_of({0x22}, 0)) << "nothing to add";
  EXPECT_FALSE(place_of({0x77, 0x08, 0x77, 0x08, 0x22}, 0)) << "two places";
  EXPECT_FALSE(place_of({0xFF}, 0)) << "unknown";
  EXPECT_FALSE(place_of({0x77, 0x00, 0x23, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F}, 0)) << "too far";
  EXPECT_FALSE(place_of(Bytes(20, 0x31), 0)) << "too deep";
}

}  // namespace
}  // namespace tidemark::stacks
