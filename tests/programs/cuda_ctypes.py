"""The CUDA runtime from an unmodified python3, through ctypes."""
import ctypes
import os

cudart = ctypes.CDLL(os.environ.get('CUDART_NAME', 'libcudart.so.13'))
cudart.cudaMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
cudart.cudaFree.argtypes = [ctypes.c_void_p]
cudart.cudaMemset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
cudart.cudaMemcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
cudart.cudaGetErrorName.restype = ctypes.c_char_p

DEVICE_TO_HOST = 2


def say(what, result):
    print(f'{what}: {cudart.cudaGetErrorName(result).decode()}')


def allocate(size):
    block = ctypes.c_void_p()
    say(f'malloc {size}', cudart.cudaMalloc(ctypes.byref(block), size))
    return block.value


count = ctypes.c_int()
say('count', cudart.cudaGetDeviceCount(ctypes.byref(count)))
print(f'{count.value} devices')
blocks = [allocate(size) for size in (1, 512, 1000, 65536, 1 << 20, (1 << 20) + 1, 10 << 20)]
for value, block in enumerate(blocks, start=1):
    say('memset', cudart.cudaMemset(block, value, 1))
for block in blocks:
    byte = ctypes.c_ubyte()
    say('memcpy', cudart.cudaMemcpy(ctypes.byref(byte), block, 1, DEVICE_TO_HOST))
    print(f'the byte is {byte.value}')
say('interior free', cudart.cudaFree(blocks[0] + 256))
for block in blocks:
    say('free', cudart.cudaFree(block))
say('second free', cudart.cudaFree(blocks[-1]))
say('last error', cudart.cudaGetLastError())
