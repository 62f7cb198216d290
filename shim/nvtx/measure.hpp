// The seam through which ranges are measured: what a range is called is known here, what memory did meanwhile is not.
#pragma once

#include <cstdint>

#include "shim/nvtx/text_pool.hpp"

namespace tidemark::nvtx {

// How the begin of a range was noted; what it means is the measure's own.
using Mark = std::int64_t;
inline constexpr Mark kNoRoom = -1;  // as many are measured at once as can be

struct Range {
  const PooledText* domain = nullptr;   // null: the default one
  const PooledText* message = nullptr;  // null: one of those that found no place
  Mark mark = 0;
};

class Measure {
 public:
  [[nodiscard]] virtual Mark begin() noexcept = 0;
  // Of the range that is over.
  virtual void end(const Range& range) noexcept = 0;
  // It will never end: its thread did.
  virtual void drop(Mark mark) noexcept = 0;

 protected:
  ~Measure() = default;
};

}  // namespace tidemark::nvtx
