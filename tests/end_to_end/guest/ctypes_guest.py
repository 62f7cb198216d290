"""The guest's first commands (alloc, free) from an unmodified Python through ctypes: ctypes_guest.py mtia|cuda|cuda-driver"""

import ctypes
import sys


class Mtia:
    def __init__(self):
        self.library = ctypes.CDLL('libmtia.so.1')

    def allocate(self, out, size):
        return self.library.mtiaMalloc(out, ctypes.c_size_t(size))

    def release(self, ptr):
        return self.library.mtiaFree(ptr)


class CudaRuntime:
    def __init__(self):
        self.library = ctypes.CDLL('libcudart.so.13')

    def allocate(self, out, size):
        return self.library.cudaMalloc(out, ctypes.c_size_t(size))

    def release(self, ptr):
        return self.library.cudaFree(ptr)


class CudaDriver:
    def __init__(self):
        self.library = ctypes.CDLL('libcuda.so.1')
        device, context = ctypes.c_int(), ctypes.c_void_p()
        for code in (self.library.cuInit(0), self.library.cuDeviceGet(ctypes.byref(device), 0),
                     self.library.cuDevicePrimaryCtxRetain(ctypes.byref(context), device),
                     self.library.cuCtxSetCurrent(context)):
            if code != 0:
                sys.exit(f'the driver does not start: {code}')

    def allocate(self, out, size):
        return self.library.cuMemAlloc_v2(out, ctypes.c_size_t(size))

    def release(self, ptr):
        return self.library.cuMemFree_v2(ptr)


def main():
    device = {'mtia': Mtia, 'cuda': CudaRuntime, 'cuda-driver': CudaDriver}[sys.argv[1]]()
    slots = []
    for line in sys.stdin:
        command, _, argument = line.strip().partition(' ')
        if command == 'hello':
            print('hello', flush=True)
        elif command == 'alloc':
            ptr = ctypes.c_void_p()
            code = device.allocate(ctypes.byref(ptr), int(argument))
            if code == 0:
                slots.append(ptr)
            print(f'error {code}' if code else f'ok {len(slots) - 1} {ptr.value:#x}', flush=True)
        elif command == 'free':
            print(device.release(slots[int(argument)]), flush=True)


main()
