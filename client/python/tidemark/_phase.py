"""The peak of a part of a program."""

import ctypes
from collections import OrderedDict
from contextlib import ContextDecorator
from typing import Any, Dict, Optional

from . import _library, _stats
from ._library import DeviceStats, checked, encoded, library


class Phase(ContextDecorator):
    """Peaks between two moments, which disturb nobody's: phases nest, in each thread on its own.

        with tidemark.phase("forward") as forward:
            ...
        print(forward.max_memory_allocated())

    What is measured is the whole process, whichever thread allocates. ``reset_peak_memory_stats`` doesn't touch a phase,
    nor a phase what that resets. Its numbers are there once it has ended.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._current: Optional[str] = None
        self._stats: Optional[Dict[str, DeviceStats]] = None

    def __enter__(self) -> "Phase":
        self._stats = None
        checked(library().tidemark_phase_push(encoded(self.name)))
        return self

    def __exit__(self, *exception: Any) -> None:
        try:
            found = {}
            for name in _library.device_names():
                found[name] = DeviceStats()
                checked(library().tidemark_phase_stats(encoded(name), ctypes.byref(found[name])))
            backend = library().tidemark_current_backend() if found else None
            if backend is not None:
                index = library().tidemark_current_device(backend)
                self._current = f"{backend.decode()}:{index}"
            self._stats = found
        finally:
            checked(library().tidemark_phase_pop(None))

    def _recreate_cm(self) -> "Phase":
        return Phase(self.name)  # as a decorator: each call has its own

    def _of(self, device: Any) -> DeviceStats:
        if self._stats is None:
            raise RuntimeError(f"phase '{self.name}' has not ended yet")
        name = self._current if device is None else str(device)
        return self._stats.get(name or "", DeviceStats())

    def memory_stats(self, device: Any = None) -> "OrderedDict[str, int]":
        """``memory_stats()`` at the phase's end, as if the peaks had been reset at its beginning.

        ``device``: "cuda:0" or an object that reads so; None: the one that was current at its end. All 0 for a device
        that the process had not used.
        """
        return _stats.flat(self._of(device))

    def max_memory_allocated(self, device: Any = None) -> int:
        """Most allocated during the phase, in bytes."""
        return self._of(device).allocated_bytes.all.peak

    def max_memory_reserved(self, device: Any = None) -> int:
        """Most reserved during the phase, in bytes."""
        return self._of(device).reserved_bytes.all.peak

    def max_memory_held(self, device: Any = None) -> int:
        """Most held during the phase, in bytes: reserved, and other kinds of memory on the device."""
        return self._of(device).held_peak_bytes


phase = Phase
