"""The runtime in cuda-bindings, which is NVIDIA's own."""

from cuda.bindings import runtime
from phases import phase, tried


def done(result):
    if result[0] != runtime.cudaError_t.cudaSuccess:
        raise RuntimeError(result[0].name)
    return result[1] if len(result) == 2 else result[1:]


block = tried('the first call', lambda: done(runtime.cudaMalloc(1000)))
phase('a block', requested=1000)
done(runtime.cudaFree(block))
phase('freed', requested=0)
