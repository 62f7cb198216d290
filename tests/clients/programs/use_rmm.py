"""RMM: its memory resources over each other, with its own statistics."""

import rmm
from phases import phase, tried

SIZES = (1, 1000, 300_000, 3_000_000)


def hold(name, resource, **expected):
    statistics = rmm.mr.StatisticsResourceAdaptor(resource)
    buffers = [rmm.DeviceBuffer(size=size, mr=statistics) for size in SIZES]
    print(name, 'counts', statistics.allocation_counts.current_bytes)
    phase(name, **{kind: statistics.allocation_counts.current_bytes for kind in expected})
    del buffers


tried('the runtime in it', lambda: rmm.DeviceBuffer(size=1000))
hold('plain', rmm.mr.CudaMemoryResource(), requested=True)
hold('stream-ordered', rmm.mr.CudaAsyncMemoryResource(), pool=True)
hold('managed', rmm.mr.ManagedMemoryResource(), managed=True)
phase('freed', requested=0, pool=0, managed=0)
