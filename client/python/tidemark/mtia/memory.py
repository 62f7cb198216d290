"""``torch.mtia.memory``. Sizes are in bytes."""

from typing import Any, Dict

from .. import _stats
from .._device import Device
from . import _backend
from .profiler import MemoryProfiler

__all__ = [
    "MemoryProfiler",
    "max_memory_allocated",
    "memory_allocated",
    "memory_stats",
    "reset_peak_memory_stats",
]


def memory_stats(device: Device = None) -> Dict[str, Any]:
    """The counters of a device (None: the current one): ``dram`` as ``torch.mtia`` has it, and PyTorch's 122 flat keys.

    ``{}`` before initialisation. ``ValueError`` for another type of device, ``RuntimeError`` for one that there isn't.
    """
    stats = _backend.stats(device)
    return {} if stats is None else {"dram": _stats.dram(stats), **_stats.flat(stats)}


def memory_allocated(device: Device = None) -> int:
    """In blocks that the program holds; 0 before initialisation."""
    return _backend.number(device, "allocated_bytes", "current")


def max_memory_allocated(device: Device = None) -> int:
    """The most of it since the last reset; 0 before initialisation."""
    return _backend.number(device, "allocated_bytes", "peak")


def reset_peak_memory_stats(device: Device = None) -> None:
    """Peaks := what is current, at one moment, never 0; nothing before initialisation."""
    if _backend.stats(device) is not None:
        _backend.reset_peaks(device)
