"""``torch.accelerator.memory``: counters of this process's accelerator. Sizes are in bytes.

Arguments are positional, as PyTorch's: None for the current device, an index, a string or a ``torch.device``; a
``ValueError`` where its type is another. Before initialisation: an empty dictionary, 0, nothing.
"""

from collections import OrderedDict
from typing import Any, Optional, Tuple

from .. import _stats
from .._backend import Backend
from .._library import DeviceStats, checked, device_names, library
from . import _index, _required

__all__ = [
    "empty_cache",
    "get_memory_info",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
]


def _initialized() -> Optional[Backend]:
    """Loads no driver: who asks for memory must not pay for one."""
    used = [Backend(name.partition(":")[0]) for name in device_names()[:1]]
    return next((backend for backend in used + [Backend("cuda"), Backend("mtia")] if backend.is_initialized()), None)


def _read(device_index: Any) -> Optional[DeviceStats]:
    backend = _initialized()
    return None if backend is None else backend.stats(_index(device_index, backend))


def _number(device_index: Any, family: str, leaf: str) -> int:
    stats = _read(device_index)
    return 0 if stats is None else getattr(getattr(stats, family).all, leaf)


def empty_cache() -> None:
    """Gives all cached memory back to the driver; nothing before initialisation."""
    if _initialized() is not None:
        checked(library().tidemark_empty_cache(None, b"all"))


def memory_stats(device_index: Any = None, /) -> "OrderedDict[str, int]":
    """PyTorch's 122 keys, sorted ("allocated_bytes.all.current", ...)."""
    stats = _read(device_index)
    return OrderedDict() if stats is None else _stats.flat(stats)


def memory_allocated(device_index: Any = None, /) -> int:
    """In blocks that the program holds."""
    return _number(device_index, "allocated_bytes", "current")


def max_memory_allocated(device_index: Any = None, /) -> int:
    """The most of it since the last reset."""
    return _number(device_index, "allocated_bytes", "peak")


def memory_reserved(device_index: Any = None, /) -> int:
    """Held from the driver, in use or cached."""
    return _number(device_index, "reserved_bytes", "current")


def max_memory_reserved(device_index: Any = None, /) -> int:
    """The most of it since the last reset."""
    return _number(device_index, "reserved_bytes", "peak")


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Peaks := what is current, at one moment, never 0."""
    backend = _initialized()
    if backend is not None and backend.stats(_index(device_index, backend)) is not None:
        backend.reset_peaks(_index(device_index, backend))


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """Totals and event counts := 0."""
    backend = _initialized()
    if backend is not None and backend.stats(_index(device_index, backend)) is not None:
        backend.reset_accumulated(_index(device_index, backend))


def get_memory_info(device_index: Any = None, /) -> Tuple[int, int]:
    """(free, total) of the whole device as this program sees it. Initialises the device."""
    backend = _required()
    return backend.memory_info(_index(device_index, backend))
