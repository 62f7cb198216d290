"""numba-cuda: arrays of its own, pinned, mapped and managed memory, streams and events."""

import gc
import warnings

import numpy
from numba import cuda
from phases import phase

warnings.simplefilter('ignore')

context = cuda.current_context()
host = numpy.arange(1_000_000, dtype=numpy.int64)
first = cuda.to_device(host)
second = cuda.device_array_like(host)
second.copy_to_device(first)
print('sum', second.copy_to_host().sum())
small = [cuda.to_device(numpy.full(250 + i, i, dtype=numpy.int32)) for i in range(20)]
print('small', sum(int(array.copy_to_host().sum()) for array in small))
arrays = [first, second, *small]
memory = context.get_memory_info()
phase('arrays', requested=sum(array.alloc_size for array in arrays), used=memory.total - memory.free)

stream = cuda.stream()
begin, end = cuda.event(), cuda.event()
pinned = cuda.pinned_array(1000, dtype=numpy.float32)
mapped = cuda.mapped_array(2000, dtype=numpy.float32)
managed = cuda.managed_array(3000, dtype=numpy.float32)
pinned[:] = 1.5
mapped[:] = 2.5
managed[:] = 3.5
with cuda.pinned(host):
    begin.record(stream)
    on_stream = cuda.to_device(host, stream=stream)
    end.record(stream)
    end.synchronize()
    print('time passed:', begin.elapsed_time(end) >= 0, 'sum', on_stream.copy_to_host(stream=stream).sum(), mapped.sum(),
          managed.sum())
    arrays.append(on_stream)
    phase('beside them', requested=sum(array.alloc_size for array in arrays), pinned=pinned.nbytes + mapped.nbytes,
          managed=managed.nbytes, registered=host.nbytes)

del first, second, small, arrays, on_stream, pinned, mapped, managed
gc.collect()
context.memory_manager.deallocations.clear()  # it puts frees off until ten are together
cuda.synchronize()
phase('freed', requested=0, pinned=0, managed=0, registered=0)
cuda.close()
