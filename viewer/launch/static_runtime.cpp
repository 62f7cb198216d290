#include "viewer/launch/static_runtime.hpp"

#include <algorithm>

namespace tidemark::viewer {
namespace {

// The driver that it opens by itself; and a file that no other runtime has a name for (cudart 12 and 13; strip leaves
// it). The first alone is in every program that brings its own way to the driver, which may be any driver.
constexpr std::string_view kDriver{"libcuda.so.1", 13};  // with its NUL
constexpr std::string_view kItsOwn = "/cudart.shm.";

}  // namespace

bool has_nvidia_runtime_inside(const ElfFacts& facts, std::string_view bytes) {
  const auto is_shared = [](std::string_view name) {
    return name.starts_with("libcudart.so") || name.starts_with("libcuda.so");
  };
  return facts.same_machine && std::ranges::none_of(facts.needed, is_shared) &&
         bytes.find(kDriver) != std::string_view::npos && bytes.find(kItsOwn) != std::string_view::npos;
}

}  // namespace tidemark::viewer
