// Processes that ended and left nothing behind: they are shown for a while longer, with their last numbers.
//
// A program that ends in its own way takes its segment away, so that the next look would not find it. Whoever has it
// open still reads what it said last, and whether it is over. Threads: one at a time.
#pragma once

#include "viewer/model/view.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::viewer {

class Departed {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Long enough to read a peak; htop, which marks ended processes too, has 5 s. A look that comes later shows one once.
  static constexpr std::chrono::seconds kKept{10};

  // Puts them into `view`, in their places, as exited or killed; one that is still on its way out as it is. `before` is
  // the look before this one: what was alive in it and is not in `view` has departed. That of id `kept` stays for as
  // long as it is named.
  void add_to(View& view, const View& before, Time now, const std::string& kept = {});

 private:
  struct Leaver {
    ProcessView process;
    std::optional<Time> until;  // none: it hasn't ended yet
  };

  void find_leavers(const View& view, const View& before);

  std::vector<Leaver> leavers_;
};

}  // namespace tidemark::viewer
