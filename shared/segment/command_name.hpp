// What to call a process in a list: the executable's name, for interpreters with the script.
#pragma once

#include <string_view>

#include "shared/segment/text.hpp"

namespace tidemark::segment {

using CommandText = Text<192>;

// `arguments`: the NUL-separated contents of /proc/PID/cmdline; `executable`: a name for when they say nothing.
// "/usr/bin/python3 -u /home/a/train.py --key s3cret" gives "python3 train.py": no directories, no arguments (they can
// hold secrets). "python3 -m torch.distributed.run" gives "python3 -m torch.distributed.run".
[[nodiscard]] CommandText command_name(std::string_view arguments, std::string_view executable) noexcept;

}  // namespace tidemark::segment
