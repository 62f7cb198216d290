// The seam between what a document says and how it is written: pickle or JSON, as it comes, nothing kept.
#pragma once

#include <cstdint>
#include <string_view>

namespace tidemark::viewer {

class DocumentSink {
 public:
  virtual ~DocumentSink() = default;

  virtual void begin_dict() = 0;
  virtual void end_dict() = 0;
  virtual void begin_list() = 0;
  virtual void end_list() = 0;
  virtual void key(std::string_view name) = 0;  // then its value
  virtual void text(std::string_view value) = 0;
  virtual void integer(std::uint64_t value) = 0;
  virtual void real(double value) = 0;
  virtual void boolean(bool value) = 0;
  virtual void null() = 0;
  virtual void pair(std::uint64_t first, std::uint64_t second) = 0;  // a tuple, where there are tuples

  // A value that occurs again and again. True: write it now, and end_shared() behind it. False: a reference to the
  // earlier one stands there already.
  [[nodiscard]] virtual bool begin_shared(std::uint64_t id) = 0;
  virtual void end_shared(std::uint64_t id) = 0;
};

}  // namespace tidemark::viewer
