// A viewer's way to the control file of a process.
#pragma once

#include "shared/base/result.hpp"
#include "shared/segment/file_handle.hpp"
#include "shared/segment/reader.hpp"

namespace tidemark::control {

// `access` is O_RDONLY or O_RDWR. NotFound (none was made, or it is gone), PermissionDenied (another user's), BadFormat
// (no control file, or not the one that this process made: that one is locked by it), WrongVersion, System.
[[nodiscard]] Result<segment::FileHandle> open_control_file(const segment::SegmentReader& reader, int access);

}  // namespace tidemark::control
