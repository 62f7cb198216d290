"""``torch.accelerator``'s functions on devices and memory: those of the backend that this process uses.

That is the one on which it allocated first; before, one that was initialised, or whose driver is loaded, or there.
"""

from typing import Any, Optional

from .._backend import Backend
from .._device import device as _device_type
from .._library import library


def _current() -> Optional[Backend]:
    name = library().tidemark_current_backend()
    return None if name is None else Backend(name.decode())


def _required() -> Backend:
    backend = _current()
    if backend is None:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return backend


def _index(device: Any, backend: Backend) -> Optional[int]:
    """A device of PyTorch's forms; ``ValueError`` where its type is not the accelerator's."""
    if device is None or isinstance(device, int):
        return None if device is None else int(device)
    named = _device_type(device) if isinstance(device, (str, _device_type)) else device
    if named.type != backend.name:
        raise ValueError(f"{named.type} doesn't match the current accelerator {backend.name}.")
    return None if named.index is None else int(named.index)


def is_available() -> bool:
    """Whether the library serves this process and a driver has a device."""
    backend = _current()
    return backend is not None and backend.is_available()


def device_count() -> int:
    """How many devices the accelerator has; 0: none."""
    backend = _current()
    return 0 if backend is None else backend.device_count()


def current_accelerator(check_available: bool = False) -> Optional[_device_type]:
    """The accelerator, as a device without an index; None: there is none (with ``check_available``: none to be used)."""
    backend = _current()
    if backend is None or (check_available and not backend.is_available()):
        return None
    return _device_type(backend.name)


def current_device_index() -> int:
    """The calling thread's device."""
    return _required().current_device()


def set_device_index(device: Any, /) -> None:
    """Makes it the calling thread's; a negative one changes nothing."""
    backend = _required()
    backend.set_device(_index(device, backend))


current_device_idx = current_device_index
set_device_idx = set_device_index


class device_index:
    """``with tidemark.accelerator.device_index(1):`` another current device for a while; None changes nothing."""

    def __init__(self, device: Optional[int], /) -> None:
        self.idx = device
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx is not None:
            self.prev_idx = current_device_index()
            set_device_index(self.idx)

    def __exit__(self, *exception: Any) -> None:
        if self.idx is not None:
            set_device_index(self.prev_idx)


from . import memory  # noqa: E402  (needs _current)
from .memory import *  # noqa: E402,F403

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "device_count",
    "device_index",
    "is_available",
    "set_device_idx",
    "set_device_index",
]
__all__ += memory.__all__
