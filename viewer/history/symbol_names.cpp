#include "viewer/history/symbol_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "viewer/symbols/process_modules.hpp"

namespace tidemark::viewer {

LoadedModule loaded_module(const history::Module& module) {
  std::string build_id;
  for (const std::uint8_t byte : module.build_id) {
    build_id += fmt::format("{:02x}", byte);
  }
  return {.base = module.bias,
          .begin = module.start,
          .end = module.end,
          .build_id = std::move(build_id),
          .path = module.path,
          .listed_ns = module.since_ns,
          .gone_ns = module.gone_ns.value_or(0)};
}

namespace {

ModuleMap modules_of(const history::History& history, std::int64_t pid) {
  std::vector<LoadedModule> modules;
  std::transform(history.modules.begin(), history.modules.end(), std::back_inserter(modules), loaded_module);
  ModuleMap map{std::move(modules)};
  if (pid != 0) {
    map.add_unlisted(process_modules(static_cast<int>(pid)));
  }
  return map;
}

}  // namespace

SymbolNames::SymbolNames(const history::History& history, std::int64_t pid)
    : symbolizer_(modules_of(history, pid), FilePlaces{.pid = static_cast<int>(pid)}) {}

Frames SymbolNames::frames_at(std::uint64_t return_address, std::uint64_t time_ns) {
  const Location& location = symbolizer_.find(return_address, time_ns);
  if (location.frames.empty()) {
    return {{.name = location_text(location, nullptr),
             .file = location.module.empty() ? std::string{kNoFile} : location.module}};
  }
  Frames frames;
  for (const SourceFrame& frame : location.frames) {
    frames.push_back({.name = frame.function.empty() ? location_text(location, nullptr) : frame.function,
                      .file = frame.file.empty() ? location.module : frame.file,
                      .line = frame.file.empty() || frame.line < 0 ? 0U : static_cast<std::uint32_t>(frame.line)});
  }
  return frames;
}

}  // namespace tidemark::viewer
