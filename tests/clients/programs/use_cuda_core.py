"""cuda-core: its memory resources, which are pools of the driver's, with the driver's own counts of them."""

import numpy
from cuda.core import (Device, DeviceMemoryResource, DeviceMemoryResourceOptions, LaunchConfig, LegacyPinnedMemoryResource,
                       ObjectCode, VirtualMemoryResource, launch)
from cuda.bindings import driver
from phases import phase, tried

PTX = b"""
.version 7.0
.target sm_80
.address_size 64
.visible .entry nothing(.param .u64 block) { ret; }
"""


def done(result):
    assert result[0] == driver.CUresult.CUDA_SUCCESS, result
    return result[1:]


device = Device(0)
device.set_current()
stream = device.create_stream()
host = LegacyPinnedMemoryResource().allocate(100_000)
array = numpy.from_dlpack(host)
array[:] = 7

first = device.allocate(100_000, stream=stream)
second = device.allocate(3_000_000, stream=stream)
first.copy_from(host, stream=stream)
stream.sync()
array[:] = 0
first.copy_to(host, stream=stream)
stream.sync()
print('copied back the same:', bool((array == 7).all()))
# It names the device's pool in each call, which makes it pool memory with us, not async.
phase('of the default pool', pool=first.size + second.size, pinned=host.size)

launch(stream, LaunchConfig(grid=4, block=32), ObjectCode.from_ptx(PTX).get_kernel('nothing'), first)
stream.sync()

own = tried('a pool of its own', lambda: DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=64 << 20)))
third = own.allocate(500_000, stream=stream)
fourth = own.allocate(5_000_000, stream=stream)
pooled = (first, second, third, fourth)
print('of its own pool it says no less than was asked:', own.attributes.used_mem_current >= third.size + fourth.size)
phase('of a pool of its own', pool=sum(buffer.size for buffer in pooled), pinned=host.size)

free_before, total = done(driver.cuMemGetInfo())
mapped = tried('virtual memory', lambda: VirtualMemoryResource(device).allocate(3_000_000, stream=stream))
phase('mapped', pool=sum(buffer.size for buffer in pooled), vmm=mapped.size, pinned=host.size)

mapped.close(stream)
# 1.2.2 retains the handle to find it, and releases it once: the driver keeps the memory, and so do we.
still_held = free_before - done(driver.cuMemGetInfo())[0]
phase('mapping closed', pool=sum(buffer.size for buffer in pooled), vmm=still_held, pinned=host.size)

for buffer in pooled:
    buffer.close(stream)
stream.sync()
own.close()
del array
host.close()
phase('freed', pool=0, vmm=still_held, pinned=0)
