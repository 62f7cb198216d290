// What torch.cuda.memory._snapshot() would say, in the same words: segments with their blocks, one list of events a
// device. It opens in PyTorch's memory_viz and _memory_viz.py (docs/snapshots.md says which field is whose).
//
// Ours besides, which those ignore: `tidemark` (who, when, what was recorded and lost), a block's and segment's
// `time_us` (its birth), a block's `older`, an event's `block_size` where it isn't `size`.
#pragma once

#include "viewer/history/document_sink.hpp"
#include "viewer/history/memory_snapshot.hpp"

namespace tidemark::viewer {

struct WrittenDocument {
  std::size_t events = 0;
  std::size_t left_out = 0;  // events that don't fit together with what is there: that viewer would stop at them
};

WrittenDocument write_document(const MemorySnapshot& snapshot, DocumentSink& to);

}  // namespace tidemark::viewer
