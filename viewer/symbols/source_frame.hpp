// What an address is called: one function, or several where some were inlined into others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::viewer {

struct SourceFrame {
  std::string function;     // demangled; empty: unknown
  std::string file;         // empty: unknown
  int line = 0;             // 0: unknown
  bool is_inlined = false;  // into the next one
};

struct Location {
  std::vector<SourceFrame> frames;  // the innermost first; empty: no names
  std::string module;               // path as the process saw it; empty: in no object (made at run time)
  std::uint64_t offset = 0;         // in that module; without one the address itself
};

// "forward(int) at model.cpp:12", "libm.so.6+0x4711", "0x7f0012345678"; for a reader, not for a program.
[[nodiscard]] std::string location_text(const Location& location, const SourceFrame* frame);

}  // namespace tidemark::viewer
