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

// Puts work on a stream, or hands it to a capture that does nothing with it.
CUresult submit(Call& call, const Stream& stream, sim::Work work);
CUresult wait_for(Call& call, const Stream& stream);

CUresult transfer(Call& call, const Stream& stream, Transfer transfer, Mode mode);
CUresult fill(Call& call, const Stream& stream, const sim::Fill& fill, Mode mode);

// CUDA_MEMCPY2D as a Transfer; INVALID_VALUE for arrays and pitches smaller than a row.
CUresult to_transfer(const CUDA_MEMCPY2D& rows, Transfer& out);

}  // namespace cuda_sim
