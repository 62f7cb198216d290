// Looks at the machine: reads every segment there is into a View.
#pragma once

#include "viewer/model/view.hpp"

#include <filesystem>
#include <span>

namespace tidemark::viewer {

// What makes the next look cheaper.
struct EarlierLook {
  const View* view = nullptr;  // its readers are used again
  // False: of segments without a name and of those in containers only the ones of `view`.
  bool looks_everywhere = true;
  // A look of many, for a screen: what was stopped since the one before may be seen in the next one alone
  // (segment::EarlierSnapshot), and what is recorded is for read_recording().
  bool is_glance = false;
};

// Reads all segments of these directories, memfd ones, and as root those in the same directories of containers. A
// process that goes away meanwhile is no error.
[[nodiscard]] View collect(std::span<const std::filesystem::path> directories, const EarlierLook& earlier = {});

// What is recorded of the process, where collect() left that out. Nothing without a reader.
void read_recording(ProcessView& process);

// As much of a view as EarlierLook needs: its numbers are a hundred times as large.
[[nodiscard]] View without_numbers(const View& view);

// Removes what dead processes of this user left more than a day ago, and all but the newest 32; of everyone: of each
// user's, as far as the system lets us.
void sweep(std::span<const std::filesystem::path> directories, bool of_everyone = false);

// One more look at a process. Requires: `process.reader`.
[[nodiscard]] ProcessView look_again(const ProcessView& process);

}  // namespace tidemark::viewer
