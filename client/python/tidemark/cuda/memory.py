"""``torch.cuda.memory``. Sizes are in bytes.

Devices: None for the current one, an index, "cuda", "cuda:1", a ``torch.device``; ``ValueError`` for another type.
"""

import os
import sys
import tempfile
import warnings
from collections import OrderedDict
from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import _observers, _stats
from .. import _snapshot as _snapshots
from .._device import Device, index_of
from .._errors import InvalidDevice
from .._library import checked, library
from .._summary import summary
from . import _backend

__all__ = [
    "empty_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
]

_MOST_ENTRIES = 1 << 30  # the library's bound


def memory_stats(device: Device = None) -> "OrderedDict[str, int]":
    """PyTorch's 122 keys, sorted ("allocated_bytes.all.current", ...); empty before initialisation."""
    stats = _backend.stats(device)
    return OrderedDict() if stats is None else _stats.flat(stats)


def memory_stats_as_nested_dict(device: Device = None) -> Dict[str, Any]:
    """The same as nested dictionaries; ``{}`` before initialisation."""
    stats = _backend.stats(device)
    return {} if stats is None else _stats.nested(stats)


def memory_allocated(device: Device = None) -> int:
    """In blocks that the program holds; 0 before initialisation."""
    return _backend.number(device, "allocated_bytes", "current")


def max_memory_allocated(device: Device = None) -> int:
    """The most of it since the last reset; 0 before initialisation."""
    return _backend.number(device, "allocated_bytes", "peak")


def memory_reserved(device: Device = None) -> int:
    """Held from the driver, in use or cached; 0 before initialisation."""
    return _backend.number(device, "reserved_bytes", "current")


def max_memory_reserved(device: Device = None) -> int:
    """The most of it since the last reset; 0 before initialisation."""
    return _backend.number(device, "reserved_bytes", "peak")


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"`tidemark.cuda.{old}` is `torch.cuda`'s former name of `{new}`", FutureWarning, stacklevel=3)


def memory_cached(device: Device = None) -> int:
    """Former name of :func:`memory_reserved`."""
    _deprecated("memory_cached", "memory_reserved")
    return memory_reserved(device)


def max_memory_cached(device: Device = None) -> int:
    """Former name of :func:`max_memory_reserved`."""
    _deprecated("max_memory_cached", "max_memory_reserved")
    return max_memory_reserved(device)


def _may_reset(device: Device) -> bool:
    """Before initialisation there is nothing to reset; an index is then PyTorch's error."""
    if _backend.stats(device) is not None:
        return True
    if (index := index_of(device, "cuda")) is not None:
        raise InvalidDevice(f"Invalid device argument {index}: did you call init?")
    return False


def reset_peak_memory_stats(device: Device = None) -> None:
    """Peaks := what is current, at one moment, never 0."""
    if _may_reset(device):
        _backend.reset_peaks(device)


def reset_accumulated_memory_stats(device: Device = None) -> None:
    """Totals and event counts := 0."""
    if _may_reset(device):
        _backend.reset_accumulated(device)


def reset_max_memory_allocated(device: Device = None) -> None:
    """Former name of :func:`reset_peak_memory_stats`: all peaks are reset."""
    _deprecated("reset_max_memory_allocated", "reset_peak_memory_stats")
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: Device = None) -> None:
    """Former name of :func:`reset_peak_memory_stats`: all peaks are reset."""
    _deprecated("reset_max_memory_cached", "reset_peak_memory_stats")
    reset_peak_memory_stats(device)


def empty_cache() -> None:
    """Gives all cached memory back to the driver; nothing before initialisation."""
    if _backend.is_initialized():
        checked(library().tidemark_empty_cache(None, b"all"))


def mem_get_info(device: Device = None) -> Tuple[int, int]:
    """(free, total) of the whole device as this program sees it. Initialises the device."""
    return _backend.memory_info(device)


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """The counters as a table; of zeros before initialisation."""
    stats = _backend.stats(device)
    index = index_of(device, "cuda")
    return summary(stats, f"cuda:{_backend.current_device() if index is None else index}", abbreviated)


def _capacity(device: Device) -> int:
    stats = _backend.stats(device)
    known = 0 if stats is None else stats.capacity_bytes
    return known or mem_get_info(device)[1]


def set_per_process_memory_fraction(fraction: float, device: Device = None) -> None:
    """Limits what this process may reserve to a part of the device's memory; beyond it the program gets its driver's
    out-of-memory. Raises :class:`tidemark.NotInitialized` before the first allocation: ``tidemark run --limit`` then."""
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    _backend.set_limit(device, max(1, int(_capacity(device) * fraction)))  # 0 would be no limit


def get_per_process_memory_fraction(device: Device = None) -> float:
    """What was set, or follows from the limit; 1.0: none."""
    stats = _backend.stats(device)
    if stats is None or stats.limit_bytes == 0 or stats.capacity_bytes == 0:
        return 1.0
    return min(1.0, stats.limit_bytes / stats.capacity_bytes)


def get_allocator_backend() -> str:
    """ "native": the caching allocator works as PyTorch's own."""
    return "native"


def memory_snapshot(mempool_id: Any = None, include_traces: bool = True) -> List[Dict[str, Any]]:
    """Every segment with its blocks."""
    if mempool_id is not None:
        raise ValueError("there are no memory pools here; mempool_id must be None")
    return _snapshots.take()["segments"]


def _snapshot(device: Device = None) -> Dict[str, Any]:
    """Every block, and what was recorded, of all devices."""
    return _snapshots.take()


def _record_memory_history(
    enabled: Optional[str] = "all",
    context: Optional[str] = "all",
    stacks: str = "all",
    max_entries: int = sys.maxsize,
    device: Device = None,
) -> None:
    """Memory history of all devices on ("state", "all") or off (None); the most entries are the library's default."""
    if enabled not in (None, "state", "all"):
        raise RuntimeError("expected state to be 'state', 'all', or None")
    if context not in (None, "state", "alloc", "all"):
        raise RuntimeError("expected context to be 'state', 'alloc', 'all', or None")
    if stacks not in ("python", "all"):
        raise RuntimeError("expected stacks to be 'python', or 'all'")
    entries = 0 if max_entries > _MOST_ENTRIES else max(1, max_entries)
    _snapshots.record(enabled, "none" if context is None else stacks, entries)


def _dump_snapshot(filename: "os.PathLike[str] | str" = "dump_snapshot.pickle") -> None:
    """The snapshot as a pickle in a file of any name, over what is there."""
    folder = os.path.dirname(os.path.abspath(os.fspath(filename)))
    with tempfile.TemporaryDirectory(prefix=".tidemark-", dir=folder) as place:
        made = os.path.join(place, "snapshot.pickle")
        _snapshots.export(made)
        os.replace(made, filename)


def _attach_out_of_memory_observer(observer: Callable[[int, int, int, int], None]) -> None:
    """As :func:`tidemark.mtia.attach_out_of_memory_observer`."""
    _observers.attach(observer)
