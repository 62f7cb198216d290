// Allocations and frees as RMM logs them (Thread,Time,Action,Pointer,Size,Stream), for its replay benchmark.
//
// Of one device, since a log has no word for another. Every free has its allocation before it: what was there before
// the first event comes first.
#pragma once

#include "viewer/history/byte_sink.hpp"
#include "viewer/history/memory_snapshot.hpp"

#include <cstddef>

namespace tidemark::viewer {

// How many lines besides the title.
std::size_t write_replay_log(const MemorySnapshot& snapshot, const history::Device& device, ByteSink& to);

}  // namespace tidemark::viewer
