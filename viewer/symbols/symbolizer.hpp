// Names for the addresses of a process's stacks: function, file, line, with what was inlined. Opens each file once,
// looks each address up once. Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "viewer/symbols/debug_file.hpp"
#include "viewer/symbols/module_file.hpp"
#include "viewer/symbols/module_map.hpp"
#include "viewer/symbols/source_frame.hpp"

namespace tidemark::viewer {

class Symbolizer {
 public:
  Symbolizer(ModuleMap modules, FilePlaces places);
  ~Symbolizer();
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;

  // Of a return address, as stacks hold them: the call before it is meant. `time_ns`: when it was on the stack, by the
  // clock of the module list. Valid as long as this is.
  const Location& find(std::uint64_t return_address, std::uint64_t time_ns);

  // One line for each file that could have had names and couldn't be used, so far.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  [[nodiscard]] const DebugFile* open(const LoadedModule& module);
  [[nodiscard]] Location look_up(const LoadedModule* module, std::uint64_t address);

  ModuleMap modules_;
  FilePlaces places_;
  std::map<const LoadedModule*, std::unique_ptr<DebugFile>> files_;
  std::map<std::pair<const LoadedModule*, std::uint64_t>, Location> known_;
  std::vector<std::string> notes_;
};

}  // namespace tidemark::viewer
