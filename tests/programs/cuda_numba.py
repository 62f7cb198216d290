"""An unmodified user of numba: device arrays, pinned and mapped memory, streams, events, memory information."""
import sys
import warnings

try:
    import numpy
    from numba import cuda
except ImportError:
    print('numba is not installed')
    sys.exit(0)

warnings.simplefilter('ignore')

context = cuda.current_context()
print('devices', [device.name.decode() if isinstance(device.name, bytes) else device.name for device in cuda.gpus])
memory = context.get_memory_info()
print('total', memory.total, 'some is free:', 0 < memory.free <= memory.total)

host = numpy.arange(1_000_000, dtype=numpy.int64)
first = cuda.to_device(host)
second = cuda.device_array_like(host)
second.copy_to_device(first)
print('sum', second.copy_to_host().sum())
small = [cuda.to_device(numpy.full(250, i, dtype=numpy.int32)) for i in range(20)]
print('small', sum(int(array.copy_to_host().sum()) for array in small))
pieces = first.split(250_000)
print('pieces', [int(piece.copy_to_host()[0]) for piece in pieces])
del pieces, small

stream = cuda.stream()
begin, end = cuda.event(), cuda.event()
with cuda.pinned(host):
    begin.record(stream)
    on_stream = cuda.to_device(host, stream=stream)
    back = numpy.zeros_like(host)
    on_stream.copy_to_host(back, stream=stream)
    end.record(stream)
    end.synchronize()
stream.synchronize()
print('the same through a stream:', bool((back == host).all()), 'time passed:', begin.elapsed_time(end) >= 0)

pinned = cuda.pinned_array(1000, dtype=numpy.float32)
pinned[:] = 1.5
mapped = cuda.mapped_array(1000, dtype=numpy.float32)
mapped[:] = 2.5
on_device = cuda.to_device(pinned)
print('pinned', float(on_device.copy_to_host().sum()), 'mapped', float(mapped.sum()))

managed = cuda.managed_array(10, dtype=numpy.float32)
managed[:] = 1.5
print('managed', float(managed.sum()))

del first, second, on_stream, on_device, pinned, mapped, managed
context.deallocations.clear()
cuda.synchronize()
cuda.close()
print('closed')
