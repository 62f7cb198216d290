"""cuda-bindings: the driver's functions under their own names, everything that takes memory once."""

import numpy
from cuda.bindings import driver
from phases import phase


def done(result):
    assert result[0] == driver.CUresult.CUDA_SUCCESS, result
    return result[1] if len(result) == 2 else result[1:]


done(driver.cuInit(0))
device = done(driver.cuDeviceGet(0))
context = done(driver.cuDevicePrimaryCtxRetain(device))
done(driver.cuCtxSetCurrent(context))
stream = done(driver.cuStreamCreate(0))

host = numpy.arange(1_000_000, dtype=numpy.int32)
back = numpy.zeros_like(host)
free, total = done(driver.cuMemGetInfo())
block = done(driver.cuMemAlloc(host.nbytes))
row_block, pitch = done(driver.cuMemAllocPitch(1000, 50, 4))
done(driver.cuMemcpyHtoDAsync(block, host.ctypes.data, host.nbytes, stream))
done(driver.cuMemcpyDtoHAsync(back.ctypes.data, block, host.nbytes, stream))
done(driver.cuStreamSynchronize(stream))
print('copied back the same:', bool((host == back).all()))
free_now, _ = done(driver.cuMemGetInfo())
print('free went down by at least the blocks:', free - free_now >= host.nbytes + 50 * pitch)
# "The same range" as asked for, not the segment it was cut from.
print('size of the block as the driver knows it is no less:', int(done(driver.cuMemGetAddressRange(block))[1]) >= host.nbytes)
phase('blocks', requested=host.nbytes + 50 * pitch, used=total - free_now)

in_order = done(driver.cuMemAllocAsync(300_000, stream))
done(driver.cuMemcpyHtoDAsync(in_order, host.ctypes.data, 300_000, stream))
managed = done(driver.cuMemAllocManaged(70_000, driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value))
pinned = done(driver.cuMemHostAlloc(5000, 0))
done(driver.cuMemHostRegister(host.ctypes.data, host.nbytes, 0))
done(driver.cuStreamSynchronize(stream))
kinds = {'async': 300_000, 'managed': 70_000, 'pinned': 5000, 'registered': host.nbytes}
phase('beside them', requested=host.nbytes + 50 * pitch, **kinds)

location = driver.CUmemAllocationProp()
location.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
location.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
location.location.id = 0
recommended = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED
size = 3 * done(driver.cuMemGetAllocationGranularity(location, recommended))
address = done(driver.cuMemAddressReserve(size, 0, 0, 0))
handle = done(driver.cuMemCreate(size, location, 0))
done(driver.cuMemMap(address, size, 0, handle, 0))
access = driver.CUmemAccessDesc()
access.location = location.location
access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
done(driver.cuMemSetAccess(address, size, [access], 1))
back[:] = 0
done(driver.cuMemcpyHtoD(address, host.ctypes.data, host.nbytes))
done(driver.cuMemcpyDtoH(back.ctypes.data, address, host.nbytes))
print('mapped memory holds the same:', bool((host == back).all()))
phase('mapped', requested=host.nbytes + 50 * pitch, vmm=size, **kinds)

done(driver.cuMemUnmap(address, size))
done(driver.cuMemRelease(handle))
done(driver.cuMemAddressFree(address, size))
done(driver.cuMemFreeAsync(in_order, stream))
done(driver.cuStreamSynchronize(stream))
done(driver.cuMemFree(managed))
done(driver.cuMemFreeHost(pinned))
done(driver.cuMemHostUnregister(host.ctypes.data))
done(driver.cuMemFree(row_block))
done(driver.cuMemFree(block))
print('a second free:', driver.cuMemFree(block)[0].name)
phase('freed', requested=0, async_=0, managed=0, vmm=0, pinned=0, registered=0)
done(driver.cuStreamDestroy(stream))
done(driver.cuDevicePrimaryCtxRelease(device))
