"""Taichi: arrays of its own runtime, and the kernels that it compiles itself."""

import numpy
import taichi
from phases import phase

taichi.init(arch=taichi.cuda, log_level=taichi.ERROR, device_memory_GB=0.5)
array = taichi.ndarray(taichi.i32, shape=300_000)
array.from_numpy(numpy.arange(300_000, dtype=numpy.int32))


@taichi.kernel
def add(to: taichi.types.ndarray()):
    for i in to:
        to[i] += 1


add(array)
taichi.sync()
phase('after a kernel')
taichi.reset()
print('ended')
