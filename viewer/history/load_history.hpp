// From a process's history, or a saved one, to a snapshot with names.
#pragma once

#include "shared/history/reader.hpp"
#include "viewer/history/address_names.hpp"
#include "viewer/history/memory_snapshot.hpp"

#include <string>

namespace tidemark::viewer {

[[nodiscard]] MemorySnapshot snapshot_of(history::History history, AddressNames& names, SnapshotSource source);

// A `.tmsnap` or a `.hist`. Throws Failure that names the file and what is wrong with it.
[[nodiscard]] history::History read_history_file(const std::string& path);

}  // namespace tidemark::viewer
