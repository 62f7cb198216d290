// What giving the cache back came to. Pure.
#pragma once

#include "viewer/model/view.hpp"

#include <string>

namespace tidemark::viewer {

// "gave back 300.0 MiB of 400.0 MiB; 100.0 MiB stay: 80.00 MiB in use, 20.00 MiB free in segments that are partly in
// use". Looked at a moment before and after: what the program did meanwhile is in it.
[[nodiscard]] std::string emptied_text(const Figures& before, const Figures& after);

}  // namespace tidemark::viewer
