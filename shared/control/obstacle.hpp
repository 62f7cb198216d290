// Why a living process cannot be asked, as far as that shows from outside: for the one line that a user gets instead of
// a timeout.
#pragma once

#include "shared/segment/reader.hpp"

namespace tidemark::control {

enum class Obstacle {
  None,       // none that can be seen from here
  Off,        // no control file was ever made (TIDEMARK_CONTROL=off)
  Removed,    // the control file is gone
  Replaced,   // another file has its name, or it is damaged
  Opened,     // its owner or mode was changed: others might write it, so the process doesn't obey it any more
  OtherUser,  // the process has become another user, who may not look into the file's directory
  OtherRoot,  // the process has changed its root directory and doesn't find the file
  Closed,     // the process says that it can't read it any more, for no reason that is left to be seen
};

[[nodiscard]] Obstacle find_obstacle(const segment::SegmentReader& reader);

}  // namespace tidemark::control
