"""PyCUDA: arrays, its memory pool beside its plain allocations, pinned and managed memory, streams."""

import gc

import numpy
from phases import phase
from pycuda import autoinit, driver, gpuarray, tools  # noqa: F401 (the first makes a context, not the primary one)

host = numpy.arange(300_000, dtype=numpy.int32)
plain = [driver.mem_alloc(1000), driver.mem_alloc(host.nbytes)]
driver.memcpy_htod(plain[1], host)
back = numpy.zeros_like(host)
driver.memcpy_dtoh(back, plain[1])
print('copied back the same:', bool((host == back).all()))
free, total = driver.mem_get_info()
phase('plain blocks', requested=1000 + host.nbytes, used=total - free)

pool = tools.DeviceMemoryPool()
arrays = [gpuarray.to_gpu(numpy.full(n, n, dtype=numpy.float32), allocator=pool.allocate) for n in (10, 1000, 777_777)]
print('through the pool:', [float(array.get()[-1]) for array in arrays])
# The pool rounds in its own way and counts what it took from the driver.
phase('with its pool', requested=1000 + host.nbytes + pool.managed_bytes)

del arrays
gc.collect()
print('the pool holds blocks:', pool.held_blocks, 'active:', pool.active_blocks)
phase('kept by its pool', requested=1000 + host.nbytes + pool.managed_bytes)
pool.free_held()
phase('given back by its pool', requested=1000 + host.nbytes + pool.managed_bytes)

stream = driver.Stream()
pinned = driver.pagelocked_empty(5000, numpy.uint8)
managed = driver.managed_empty(7000, numpy.uint8, mem_flags=driver.mem_attach_flags.GLOBAL)
driver.memcpy_dtoh_async(pinned, plain[1], stream)
begin, end = driver.Event(), driver.Event()
begin.record(stream)
end.record(stream).synchronize()
managed[:] = 3
print('time passed:', begin.time_till(end) >= 0, 'managed:', int(managed.sum()))
phase('beside them', requested=1000 + host.nbytes, pinned=pinned.nbytes, managed=managed.nbytes)

del pinned, managed, plain, pool
gc.collect()
phase('freed', requested=0, pinned=0, managed=0)
