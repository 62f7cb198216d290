// Copies and fills as the driver documents them: what is checked, what is asynchronous, and what the call waits for.
// Any thread may call.
#pragma once

#include <cuda.h>

#include "simulator/cuda/driver/call.hpp"

namespace cuda_sim {

enum class Mode { Synchronous, Asynchronous };
// What a function says of a side; Any where it only takes an address.
enum class Side { Any, Device, Host };

struct Transfer {
  sim::Copy copy;
  Side to = Side::Any;
  Side from = Side::Any;
};

// Work as a node of a graph.
GraphNode to_node(sim::Work work);
// Puts work on a stream, or into the graph that the stream captures.
CUresult submit(Call& call, const Stream& stream, sim::Work work);
CUresult wait_for(Call& call, const Stream& stream);

CUresult transfer(Call& call, const Stream& stream, Transfer transfer, Mode mode);
CUresult fill(Call& call, const Stream& stream, sim::Fill fill, Mode mode);

// As Transfers; INVALID_VALUE for pitches smaller than a row, and for what is not in an array.
CUresult to_transfer(Driver& driver, const CUDA_MEMCPY2D& rows, Transfer& out);
CUresult to_transfer(Driver& driver, const CUDA_MEMCPY3D& copy, Transfer& out);

}  // namespace cuda_sim
