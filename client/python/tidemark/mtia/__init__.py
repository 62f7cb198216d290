"""``torch.mtia``'s functions on memory, answered by Tidemark for this process.

What they say before initialisation is what PyTorch's say: ``{}``, 0, nothing. A process is initialised by
:func:`init`, or by its first allocation on a device. Sizes are in bytes.
"""

from typing import Any, Callable, Dict, Optional

from .. import _observers, _snapshot
from .._backend import Backend, DeviceScope
from .._errors import NotInitialized
from .._library import checked, library

_backend = Backend("mtia")


def _require_library(hook: str) -> None:
    if not _backend.is_loaded():
        raise NotInitialized(
            f"Cannot execute {hook}() without MTIA backend. Start this program with 'tidemark run -- ...'."
        )


# PyTorch's functions on devices are the backend's own.
is_available = _backend.is_available
is_initialized = _backend.is_initialized
init = _backend.init
device_count = _backend.device_count
current_device = _backend.current_device
set_device = _backend.set_device


class device(DeviceScope):
    """``with tidemark.mtia.device(1):`` another current device for a while."""

    _backend = _backend


from .memory import (  # noqa: E402  (needs _backend)
    max_memory_allocated,
    memory_allocated,
    memory_stats,
    reset_peak_memory_stats,
)


def empty_cache() -> None:
    """Gives all cached memory back to the driver. Waits for the devices, as every free of the driver does."""
    _require_library("emptyCache")
    checked(library().tidemark_empty_cache(None, b"all"))


def record_memory_history(
    enabled: Optional[str] = "all", stacks: str = "python", max_entries: int = 0
) -> None:
    """Memory history on or off; nothing before initialisation.

    ``enabled``: "all" events and blocks, "state" blocks alone, None: off, which removes what was recorded. ``stacks``: "none",
    "cpp", "python", "all". ``max_entries``: events kept of each device; 0: 150000.
    """
    if is_initialized():
        _snapshot.record(enabled, stacks, max_entries)


def snapshot() -> Dict[str, Any]:
    """Every block, and what was recorded: ``segments``, ``device_traces`` and more, as PyTorch's snapshots have them."""
    _require_library("memorySnapshot")
    return _snapshot.take()


def attach_out_of_memory_observer(observer: Callable[[int, int, int, int], None]) -> None:
    """Calls ``observer(device, size, total, free)`` for each allocation that fails for want of memory.

    In the failing thread, without a lock, before the call returns to the program. ``size``: what was asked for;
    ``total``: the device's memory, or the limit; ``free``: what the driver has left. It may use every function here.
    """
    _require_library("attachOutOfMemoryObserver")
    _observers.attach(observer)


from .profiler import MemoryProfiler  # noqa: E402

__all__ = [
    "MemoryProfiler",
    "attach_out_of_memory_observer",
    "current_device",
    "device",
    "device_count",
    "empty_cache",
    "init",
    "is_available",
    "is_initialized",
    "max_memory_allocated",
    "memory_allocated",
    "memory_stats",
    "record_memory_history",
    "reset_peak_memory_stats",
    "set_device",
    "snapshot",
]
