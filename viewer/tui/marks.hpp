// The peaks that the key `m` began: each is this viewer's own and holds a control slot of its process.
//
// Threads: one at a time (the sampler's).
#pragma once

#include "viewer/model/own_peak.hpp"
#include "viewer/tui/sample.hpp"
#include "viewer/tui/sampler.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::viewer {

class Marks {
 public:
  // The row's peaks begin now; where they had begun before, anew.
  [[nodiscard]] Sampler::Effect begin(const View& view, const RowKey& key);

  // What each mark has come to. A process that doesn't answer at once has a peak that is not known.
  [[nodiscard]] std::vector<MarkedPeak> read();

 private:
  struct Mark {
    RowKey key;
    OwnPeak peak;
    MarkedPeak last;
    bool has_ended = false;
  };

  std::vector<Mark> marks_;
};

}  // namespace tidemark::viewer
