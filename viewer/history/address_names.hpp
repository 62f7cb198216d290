// The seam to whatever knows what the addresses of a stack are called.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shared/history/history.hpp"
#include "viewer/history/memory_snapshot.hpp"

namespace tidemark::viewer {

class AddressNames {
 public:
  virtual ~AddressNames() = default;

  // Of a return address that was on a stack at `time_ns` (CLOCK_REALTIME): the innermost first, more than one where
  // functions were inlined. Never empty.
  [[nodiscard]] virtual Frames frames_at(std::uint64_t return_address, std::uint64_t time_ns) = 0;
  // One line for each file that could have had names and couldn't be used, so far.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

// A call of the interpreter that runs Python code, by its function, or by the file that it lies in.
[[nodiscard]] bool is_interpreter(const Frame& frame);

// A stack as one list: where the interpreter's own calls begin, Python's stand for them.
[[nodiscard]] Frames name_stack(const history::Stack& stack, AddressNames& names);

}  // namespace tidemark::viewer
