// Functions, files and lines for the addresses of a history, as far as the files that they lay in are still there.
#pragma once

#include "viewer/history/address_names.hpp"
#include "viewer/symbols/symbolizer.hpp"

namespace tidemark::viewer {

[[nodiscard]] LoadedModule loaded_module(const history::Module& module);

class SymbolNames final : public AddressNames {
 public:
  // `pid`: of the process if it lives and is seen from here, else 0.
  SymbolNames(const history::History& history, std::int64_t pid);

  [[nodiscard]] Frames frames_at(std::uint64_t return_address, std::uint64_t time_ns) override;
  [[nodiscard]] std::vector<std::string> notes() const override { return symbolizer_.notes(); }

 private:
  Symbolizer symbolizer_;
};

}  // namespace tidemark::viewer
