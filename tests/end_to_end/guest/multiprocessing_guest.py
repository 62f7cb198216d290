"""An unmodified Python that starts many processes, each with device memory of its own, through multiprocessing.

    multiprocessing_guest.py fork|spawn COUNT [used]

Each child allocates (its number + 1) * 1000 bytes; once all have said how that went, the parent prints "CHILDREN hold, CODES"
and waits for a line, then lets them free and go. `used`: the parent allocates 3 MiB before it starts them.
"""

import ctypes
import multiprocessing
import sys


def allocate(size):
    cudart = ctypes.CDLL('libcudart.so.13')
    block = ctypes.c_void_p()
    return cudart, block, cudart.cudaMalloc(ctypes.byref(block), ctypes.c_size_t(size))


def child(number, pipe):
    cudart, block, code = allocate((number + 1) * 1000)
    pipe.send(code)
    pipe.recv()
    if code == 0:
        code = cudart.cudaFree(block)
    sys.exit(code)


def main():
    ways = multiprocessing.get_context(sys.argv[1])
    mine = allocate(3 << 20) if 'used' in sys.argv else None
    started = []
    for number in range(int(sys.argv[2])):
        here, there = ways.Pipe()
        process = ways.Process(target=child, args=(number, there))
        process.start()
        started.append((process, here))
    codes = {here.recv() for _, here in started}
    print(f'{len(started)} hold, {sorted(codes)}', flush=True)
    sys.stdin.readline()
    for _, here in started:
        here.send('go')
    for process, _ in started:
        process.join()
    print('ended', sorted({process.exitcode for process, _ in started}))
    if mine:
        print('free', mine[0].cudaFree(mine[1]))


if __name__ == '__main__':
    main()
