"""The MTIA driver from Python, with the GIL and without: holds what it allocated until its standard input ends."""
import ctypes
import sys
import threading

with_gil = ctypes.PyDLL('libmtia.so.1')
without_gil = ctypes.CDLL('libmtia.so.1')


def allocate(driver, size):
    block = ctypes.c_void_p()
    return driver.mtiaMalloc(ctypes.byref(block), ctypes.c_size_t(size))


def load_weights():
    return allocate(with_gil, 5000)


class Model:
    def forward(self):
        return allocate(with_gil, 6000)


assert load_weights() == 0
assert Model().forward() == 0
assert allocate(without_gil, 7000) == 0
thread = threading.Thread(target=lambda: allocate(with_gil, 8000), name='worker')
thread.start()
thread.join()
print('holding', flush=True)
sys.stdin.read()
