# The MTIA guide's flow as a script of PyTorch's functions: `sed s/torch/tidemark/` makes it one of Tidemark's. What
# allocates is the driver itself, so that it needs nothing else.
import ctypes

import torch

driver = ctypes.CDLL("libmtia.so.1")
driver.mtiaFree.argtypes = [ctypes.c_void_p]


def zeros(rows, columns):
    tensor = ctypes.c_void_p()
    assert driver.mtiaMalloc(ctypes.byref(tensor), ctypes.c_size_t(4 * rows * columns)) == 0
    return tensor


def say(what, *numbers):
    print(what + ":", *numbers)


device = torch.device("mtia:0")
early = torch.mtia.memory_stats()
say("before", early, torch.mtia.is_initialized())
torch.mtia.reset_peak_memory_stats(device)
torch.mtia.init()
driver.mtiaFree(zeros(8192, 1024))

torch.mtia.reset_peak_memory_stats(device)
a, b = zeros(1024, 1024), zeros(1024, 1024)
allocated = torch.mtia.memory_allocated(device)
say("two tensors", allocated, torch.mtia.max_memory_allocated(device))
driver.mtiaFree(a)
allocated = torch.mtia.memory_allocated()
say("one freed", allocated, torch.mtia.max_memory_allocated("mtia"))
torch.mtia.reset_peak_memory_stats(0)
stats = torch.mtia.memory_stats("mtia:0")
say("reset", stats["dram"]["allocated_bytes"], stats["dram"]["peak_bytes"])
driver.mtiaFree(b)
torch.mtia.empty_cache()
reserved = torch.accelerator.memory_reserved(device)
say("empty", torch.accelerator.memory_allocated(), reserved)
with torch.mtia.device(1):
    c = zeros(512, 1024)
    say("other device", torch.accelerator.memory.memory_allocated())
    say("and the first", torch.mtia.memory.memory_allocated(0))
