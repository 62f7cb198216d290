// Who reads the pages of an exporter. A server that adds up has to see a new program's counters at 0 once, whoever else
// has looked in between: two servers of a pair, somebody's curl.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tidemark::viewer {

// A set of readers: bit n is one of them.
using ReaderSet = std::uint64_t;
inline constexpr ReaderSet kAllReaders = ~ReaderSet{0};

class Readers {
 public:
  static constexpr std::size_t kMost = 64;

  struct Found {
    ReaderSet reader = 0;  // one bit
    bool is_new = false;   // and may have been another's, who hasn't read for the longest time
  };
  [[nodiscard]] Found find(std::string_view name);

 private:
  struct Known {
    std::string name{};
    std::uint64_t last_read = 0;  // 0: nobody yet
  };

  std::array<Known, kMost> known_{};
  std::uint64_t reads_ = 0;
};

}  // namespace tidemark::viewer
