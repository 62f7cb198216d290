"""Python functions that are called when an allocation fails for want of memory."""

import atexit
from typing import Callable, List

from ._library import Observer, checked, library

OutOfMemoryObserver = Callable[[int, int, int, int], None]

_attached: List["Observer"] = []  # what C calls has to stay


def attach(observer: OutOfMemoryObserver) -> None:
    """Calls ``observer(device, size, total, free)`` from now on, in the thread of the failing allocation.

    The sizes are in bytes: what the program asked for, the device's memory (or the limit), what the driver has left. An
    exception in an observer is printed and goes no further. Observers stay for the life of the interpreter.
    """
    if not callable(observer):
        raise TypeError(f"observer must be callable, not {type(observer).__name__}")
    function = Observer(lambda device, size, total, free, _: observer(device, size, total, free))
    checked(library().tidemark_attach_out_of_memory_observer(function, None))
    if not _attached:
        atexit.register(_detach_all)
    _attached.append(function)


def _detach_all() -> None:
    # The interpreter ends before the process does, and nobody may call into it then. The functions stay: a call that
    # another thread has just begun still goes through them.
    for function in _attached:
        library().tidemark_detach_out_of_memory_observer(function, None)
