#include "simulator/samples/cuda_churn/options.hpp"

#include <charconv>
#include <cstdio>
#include <string_view>

namespace churn {
namespace {

constexpr const char* kUsage =
    "usage: cuda_churn [--seconds S | --iterations N] [--threads T]\n"
    "Allocates and frees device memory in a loop, on several streams, and checks what it stored there.\n"
    "  --seconds S     how long (20); whole rounds, at least one\n"
    "  --iterations N  how often a thread allocates, instead of a time\n"
    "  --threads T     from 1 to 64 (1)\n";

constexpr int kMostThreads = 64;

template <class T>
bool read(std::string_view text, T least, T most, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() && out >= least && out <= most;
}

}  // namespace

std::optional<Options> parse(int argc, char** argv, int& exit_code) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name{argv[i]};
    if (name == "--help" || name == "-h") {
      std::fputs(kUsage, stdout);
      exit_code = 0;
      return std::nullopt;
    }
    const std::string_view value = i + 1 < argc ? argv[++i] : "";
    bool good = false;
    long count = 0;
    if (name == "--seconds") {
      good = read(value, 0.0, 1e9, options.seconds);
    } else if (name == "--iterations") {
      good = read(value, 1L, 1'000'000'000'000L, count);
      options.iterations = count;
    } else if (name == "--threads") {
      good = read(value, 1, kMostThreads, options.threads);
    }
    if (!good) {
      std::fprintf(stderr, "cuda_churn: cannot use '%s %.*s'\n%s", argv[i - (value.empty() ? 0 : 1)],
                   static_cast<int>(value.size()), value.data(), kUsage);
      exit_code = 2;
      return std::nullopt;
    }
  }
  return options;
}

}  // namespace churn
