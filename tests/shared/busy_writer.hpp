// A writer that never rests, and what shows whether a copy of its record is of one moment.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "shared/segment/writer.hpp"
#include "tests/shared/scratch.hpp"

namespace tidemark::test {

inline DeviceBasis filled_with(std::uint64_t value) {
  DeviceBasis basis;
  basis.words.fill(value);
  return basis;
}

inline bool is_torn(const DeviceBasis& basis) {
  return std::ranges::adjacent_find(basis.words, std::not_equal_to{}) != basis.words.end();
}

// A process that publishes for ever, each time another number in all words; `pause`: turns of a loop in between.
class BusyWriter {
 public:
  explicit BusyWriter(std::uint64_t pause)
      : child_([this, pause] {
          auto made = segment::SegmentWriter::create(options_in(directory_));
          if (!made) {
            return 1;
          }
          auto slot = made.value().claim_device(sample_device(), filled_with(0));
          for (std::uint64_t i = 1;; ++i) {
            slot.value().publish(filled_with(i), kAllBasisLines);
            if (i == 1) {
              ready_.ring();
            }
            for (std::atomic<std::uint64_t> spin{0}; spin < pause; ++spin) {
            }
          }
        }) {
    if (!ready_.wait()) {
      throw std::runtime_error{"the writer could not start"};
    }
  }
  [[nodiscard]] std::string path() const { return directory_ / directory_.entries().at(0); }

 private:
  TemporaryDirectory directory_;
  Bell ready_;
  Child child_;
};

}  // namespace tidemark::test
