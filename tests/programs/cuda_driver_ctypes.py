"""The CUDA driver from an unmodified python3, through ctypes."""
import ctypes

cuda = ctypes.CDLL('libcuda.so.1')
cuda.cuMemAlloc_v2.argtypes = [ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t]
cuda.cuMemFree_v2.argtypes = [ctypes.c_uint64]
cuda.cuMemsetD8_v2.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t]
cuda.cuMemcpyDtoH_v2.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t]


def say(what, result):
    name = ctypes.c_char_p()
    cuda.cuGetErrorName(result, ctypes.byref(name))
    print(f'{what}: {name.value.decode()}')


def allocate(size):
    block = ctypes.c_uint64()
    say(f'alloc {size}', cuda.cuMemAlloc_v2(ctypes.byref(block), size))
    return block.value


say('init', cuda.cuInit(0))
context = ctypes.c_void_p()
say('retain', cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
say('set current', cuda.cuCtxSetCurrent(context))
blocks = [allocate(size) for size in (1, 512, 1000, 65536, 1 << 20, (1 << 20) + 1, 10 << 20)]
for value, block in enumerate(blocks, start=1):
    say('memset', cuda.cuMemsetD8_v2(block, value, 1))
for block in blocks:
    byte = ctypes.c_ubyte()
    say('memcpy', cuda.cuMemcpyDtoH_v2(ctypes.byref(byte), block, 1))
    print(f'the byte is {byte.value}')
say('interior free', cuda.cuMemFree_v2(blocks[0] + 256))
for block in blocks:
    say('free', cuda.cuMemFree_v2(block))
say('second free', cuda.cuMemFree_v2(blocks[-1]))
say('release', cuda.cuDevicePrimaryCtxRelease_v2(0))
