// Where a document's bytes go.
#pragma once

#include <string_view>

namespace tidemark::viewer {

class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual void write(std::string_view bytes) = 0;
};

}  // namespace tidemark::viewer
