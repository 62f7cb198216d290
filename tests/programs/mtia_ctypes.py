"""The MTIA driver from an unmodified python3, through ctypes."""
import ctypes

mtia = ctypes.CDLL('libmtia.so.1')
mtia.mtiaMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
mtia.mtiaFree.argtypes = [ctypes.c_void_p]
mtia.mtiaMemset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
mtia.mtiaMemcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
mtia.mtiaGetErrorName.restype = ctypes.c_char_p

DEVICE_TO_HOST = 2


def say(what, result):
    print(f'{what}: {mtia.mtiaGetErrorName(result).decode()}')


def allocate(size):
    block = ctypes.c_void_p()
    say(f'malloc {size}', mtia.mtiaMalloc(ctypes.byref(block), size))
    return block.value


say('init', mtia.mtiaInit(0))
blocks = [allocate(size) for size in (1, 512, 1000, 65536, 1 << 20, (1 << 20) + 1, 10 << 20)]
for value, block in enumerate(blocks, start=1):
    say('memset', mtia.mtiaMemset(block, value, 1))
for block in blocks:
    byte = ctypes.c_ubyte()
    say('memcpy', mtia.mtiaMemcpy(ctypes.byref(byte), block, 1, DEVICE_TO_HOST))
    print(f'the byte is {byte.value}')
say('interior free', mtia.mtiaFree(blocks[0] + 256))
for block in blocks:
    say('free', mtia.mtiaFree(block))
say('second free', mtia.mtiaFree(blocks[-1]))
