"""An unmodified user of numba: two arrays go to the device and come back."""

import warnings

import numpy
from numba import cuda

warnings.simplefilter('ignore')

host = numpy.arange(1_000_000, dtype=numpy.int64)
first = cuda.to_device(host)
second = cuda.device_array_like(host)
second.copy_to_device(first)
back = second.copy_to_host()
cuda.synchronize()
print(f'sum {back.sum()}, copied back {"the same" if (back == host).all() else "something else"}')
