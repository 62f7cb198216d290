"""tinygrad: tensors to the device and back, its own count of bytes, and the buffers it keeps for later."""

import gc
import os

os.environ['DEV'] = 'CUDA:PTX'  # which it makes itself, without a toolkit

import numpy  # noqa: E402
from phases import phase  # noqa: E402
from tinygrad import Device, Tensor  # noqa: E402
from tinygrad.helpers import GlobalCounters  # noqa: E402

device = Device['CUDA']
tensors = [Tensor(numpy.arange(n, dtype=numpy.int32), device='CUDA').realize() for n in (1, 1000, 300_000, 1_000_000)]
print('sums', [int(tensor.numpy().sum()) for tensor in tensors])
phase('tensors', requested=GlobalCounters.mem_used)

tensors.append((tensors[3] + tensors[3] * 2).realize())
device.synchronize()
phase('with what a kernel makes', requested=GlobalCounters.mem_used)

kept = GlobalCounters.mem_used
del tensors
gc.collect()
device.synchronize()
print('of its own it says', GlobalCounters.mem_used)
# Its own cache still has them: they are the program's until it lets them go.
phase('kept by its cache', requested=kept)

device.allocator.free_cache()
phase('freed', requested=0)
