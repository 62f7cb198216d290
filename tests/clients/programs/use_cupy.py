"""CuPy with its own pool, without it, and with the driver's: its count of bytes against ours."""

import os
import sys

sys.setdlopenflags(os.RTLD_LAZY)  # of the libraries that it is linked to, some may lack what nothing here calls

import cupy  # noqa: E402
import numpy  # noqa: E402
from phases import phase, tried  # noqa: E402

tried('the runtime in it', cupy.cuda.runtime.getDeviceCount)
host = numpy.arange(300_000, dtype=numpy.int32)


def uploaded(array):
    there = cupy.empty(array.shape, dtype=array.dtype)
    there.set(array)
    return there


pool = cupy.get_default_memory_pool()
arrays = [uploaded(host), uploaded(host[:100])]
back = [array.get() for array in arrays]
print('copied back the same:', bool((back[0] == host).all() and (back[1] == host[:100]).all()))
print('used is no more than total:', 0 < pool.used_bytes() <= pool.total_bytes())
# A piece that it gives out twice is one of ours: what it has from the driver is its total.
phase('in its pool', requested=pool.total_bytes())

del arrays
print('kept by its pool:', pool.used_bytes(), pool.total_bytes() > 0)
phase('kept by its pool', requested=pool.total_bytes())
pool.free_all_blocks()
phase('given back by its pool', requested=pool.total_bytes())

cupy.cuda.set_allocator(None)
arrays = [uploaded(host), uploaded(host[:100])]
print('without a pool:', int(arrays[0].get()[-1]), 'its pool has', pool.total_bytes())
phase('without its pool', requested=sum(array.nbytes for array in arrays))
del arrays

drivers = cupy.cuda.MemoryAsyncPool()
cupy.cuda.set_allocator(drivers.malloc)
arrays = [uploaded(host), uploaded(host[:100])]
print("from the driver's pool:", int(arrays[0].get()[-1]))
cupy.cuda.Device().synchronize()
phase("from the driver's pool", requested=0, async_=drivers.used_bytes())
del arrays
cupy.cuda.Device().synchronize()
phase('freed', requested=0, async_=drivers.used_bytes())
