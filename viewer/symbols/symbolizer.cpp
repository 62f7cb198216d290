#include "viewer/symbols/symbolizer.hpp"

namespace tidemark::viewer {

Symbolizer::Symbolizer(ModuleMap modules, FilePlaces places)
    : modules_(std::move(modules)), places_(std::move(places)) {}
Symbolizer::~Symbolizer() = default;

const Location& Symbolizer::find(std::uint64_t return_address, std::uint64_t time_ns) {
  const std::uint64_t address = return_address - 1;
  const LoadedModule* const module = modules_.find(address, time_ns);
  const auto [place, is_new] = known_.try_emplace({module, address});
  if (is_new) {
    place->second = look_up(module, address);
  }
  return place->second;
}

Location Symbolizer::look_up(const LoadedModule* module, std::uint64_t address) {
  Location location;
  if (module == nullptr) {
    location.offset = address;
    return location;
  }
  location.module = module->path;
  location.offset = address - module->base;
  if (const DebugFile* const file = open(*module); file != nullptr) {
    location.frames = file->find(location.offset);
  }
  return location;
}

const DebugFile* Symbolizer::open(const LoadedModule& module) {
  const auto [place, is_new] = files_.try_emplace(&module);
  if (is_new) {
    const ModuleFile file = find_module_file(module, places_);
    if (!file.path.empty()) {
      place->second = std::make_unique<DebugFile>(file.path, places_.debug_directories);
    } else if (!file.note.empty()) {
      notes_.push_back(file.note);
    }
  }
  return place->second.get();
}

}  // namespace tidemark::viewer
