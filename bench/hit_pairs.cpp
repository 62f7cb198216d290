// Makes pairs of hits, and nothing else: its instructions are counted (hit_path.py).
//   hit_pairs PAIRS SIZE
#include <cstdio>
#include <cstdlib>

#include "bench/device_calls.hpp"

int main(int argc, char** argv) {
  if (argc != 3 || !tidemark::bench::prepare()) {
    std::fprintf(stderr, "usage: hit_pairs PAIRS SIZE\n");
    return EXIT_FAILURE;
  }
  const std::size_t size = std::strtoull(argv[2], nullptr, 10);
  for (long pairs = std::atol(argv[1]); pairs > 0; --pairs) {
    void* const block = tidemark::bench::take(size);
    if (block == nullptr) return EXIT_FAILURE;
    tidemark::bench::give(block);
  }
}
