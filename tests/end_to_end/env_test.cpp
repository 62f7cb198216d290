// A program that was started after `eval "$(tidemark env ...)"` is tracked as under `tidemark run`.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/end_to_end/guests.hpp"

namespace tidemark::test {
namespace {

namespace fs = std::filesystem;

class EnvLines : public GuestTest {};
TIDEMARK_FOR_EVERY_GUEST(EnvLines);

TEST_P(EnvLines, TrackAProgramWithOddPathsAndLabels) {
  const fs::path root = fs::path{world_.directory()} / "odd 'place'";
  const fs::path segments = root / "the \"segments\"";
  fs::create_directories(root / "bin");
  fs::create_directories(root / "lib");
  fs::create_directories(segments);
  fs::copy_file(world_.viewer({}).command.front(), root / "bin/tidemark");
  fs::copy_file(preload_library(), root / "lib/libtidemark.so");
  Launch launch = ShimWorld::natively(
      {"sh", "-c", R"sh(eval "$("$T" env --label "$LABEL" --dir "$SEGMENTS" --limit 8MiB)" && exec "$GUEST")sh"});
  launch.environment["T"] = root / "bin/tidemark";
  launch.environment["LABEL"] = "it's a \"$label\"";
  launch.environment["SEGMENTS"] = segments;
  launch.environment["GUEST"] = GetParam().program;
  launch.environment["XDG_RUNTIME_DIR"] = world_.directory();

  Guest guest{launch};
  guest.alloc(1000);

  const Outcome shown = world_.tidemark({"show", "it's a \"$label\"", "--json", "--dir", segments});
  ASSERT_EQ(shown.exit_code, 0) << describe(shown);
  const nlohmann::json process = nlohmann::json::parse(shown.out);
  EXPECT_EQ(process.at("pid"), guest.pid());
  EXPECT_EQ(process.at("devices").at(0).at("limit_bytes"), 8 * kMiB);
  EXPECT_EQ(guest.finish(), Outcome{.exit_code = 0});
}

}  // namespace
}  // namespace tidemark::test
