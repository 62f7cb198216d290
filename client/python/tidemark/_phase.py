"""The peak of a part of a program."""

import ctypes
import os
import threading
from collections import OrderedDict
from contextlib import ContextDecorator
from typing import Any, Dict, Optional

from . import _library, _stats
from ._errors import NotInitialized
from ._library import DeviceStats, checked, encoded, library


class Phase(ContextDecorator):
    """Peaks between two moments, which disturb nobody's: phases nest and overlap, in threads and in tasks of asyncio.

        with tidemark.phase("forward") as forward:
            ...
        print(forward.max_memory_allocated())

    What is measured is the whole process, whichever thread allocates. ``reset_peak_memory_stats`` doesn't touch a phase,
    nor a phase what that resets. Its numbers are those so far while it is open, and stay as they were at its end. An
    object may be entered again once it has ended, and begins anew.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._open = threading.Lock()  # held while it is open
        self._ticket: Optional[int] = None
        self._pid = 0
        self._current: Optional[str] = None
        self._stats: Optional[Dict[str, DeviceStats]] = None

    def __enter__(self) -> "Phase":
        if not self._open.acquire(blocking=False):
            raise RuntimeError(f"phase '{self.name}' is open already; another object can measure meanwhile")
        try:
            self._stats = None
            self._pid = os.getpid()
            self._ticket = checked(library().tidemark_phase_begin())
        except BaseException:
            self._open.release()
            raise
        return self

    def __exit__(self, *exception: Any) -> None:
        ticket = self._ticket
        if ticket is None:
            raise RuntimeError(f"phase '{self.name}' is not open")
        try:
            if not self._is_foreign():
                self._keep(ticket)
        finally:
            self._ticket = None
            self._end(ticket)
            self._open.release()

    def __del__(self) -> None:
        # Nobody has ended it, and nobody can any more.
        ticket = getattr(self, "_ticket", None)
        if ticket is not None:
            self._end(ticket)

    def _is_foreign(self) -> bool:
        """Whether it was begun before this process was forked: the library here knows nothing of it."""
        return self._pid != os.getpid()

    def _keep(self, ticket: int) -> None:
        found = {name: self._read(ticket, name) for name in _library.device_names()}
        backend = library().tidemark_current_backend() if found else None
        if backend is not None:
            index = library().tidemark_current_device(backend)
            self._current = f"{backend.decode()}:{index}"
        self._stats = found

    def _end(self, ticket: int) -> None:
        if not self._is_foreign():
            library().tidemark_phase_end(ticket)

    def _read(self, ticket: int, name: Optional[str]) -> DeviceStats:
        stats = DeviceStats()
        checked(library().tidemark_phase_read(ticket, encoded(name), ctypes.byref(stats)))
        return stats

    def _recreate_cm(self) -> "Phase":
        return Phase(self.name)  # as a decorator: each call has its own

    def _of(self, device: Any) -> DeviceStats:
        ticket, stats = self._ticket, self._stats
        if stats is None and self._pid != 0 and self._is_foreign():
            raise NotInitialized(
                f"phase '{self.name}' was begun before this process was forked; it measures nothing here"
            )
        if stats is None and ticket is not None:
            try:
                return self._read(ticket, None if device is None else str(device))
            except ValueError:
                stats = self._stats  # another thread has just ended it
                if stats is None:
                    raise
        if stats is None:
            raise RuntimeError(f"phase '{self.name}' has not begun")
        name = self._current if device is None else str(device)
        return stats.get(name or "", DeviceStats())

    def memory_stats(self, device: Any = None) -> "OrderedDict[str, int]":
        """``memory_stats()`` of now or of the phase's end, as if the peaks had been reset at its beginning.

        ``device``: "cuda:0" or an object that reads so; None: the current one, at its end if that has come. All 0 for a
        device that the process had not used.
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
