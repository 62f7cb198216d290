"""What the modules of the two backends have in common: asking the library about one of them."""

from typing import Any, Optional

from . import _stats
from ._device import Device, index_of, name_of
from ._errors import InvalidDevice
from ._library import DeviceStats, checked, encoded, library


class Backend:
    """One backend ("cuda", "mtia") of this process."""

    def __init__(self, name: str) -> None:
        self.name = name

    def _device(self, device: Device) -> str:
        index = index_of(device, self.name)
        if index is not None and index < 0:
            raise InvalidDevice(f"Device index {index} is out of range; devices are numbered from 0")
        return name_of(index, self.name)

    def is_loaded(self) -> bool:
        return library().tidemark_is_loaded() == 1

    def is_initialized(self) -> bool:
        """Whether :func:`init` was called, or memory was asked for."""
        return library().tidemark_is_initialized(encoded(self.name)) == 1

    def is_available(self) -> bool:
        """Whether the library serves this process and its driver has a device."""
        return self.is_loaded() and self.device_count() > 0

    def init(self) -> None:
        """Loads and initialises the driver."""
        checked(library().tidemark_init(encoded(self.name)))

    def device_count(self) -> int:
        """How many devices the driver has; 0 without a driver."""
        return checked(library().tidemark_device_count(encoded(self.name)))

    def current_device(self) -> int:
        """The calling thread's device."""
        return checked(library().tidemark_current_device(encoded(self.name)))

    def set_device(self, device: Device) -> None:
        """Makes it the calling thread's device; on CUDA its primary context, as ``cudaSetDevice`` does.

        A negative one changes nothing.
        """
        index = index_of(device, self.name)
        if index is not None and index >= 1 << 31:  # ctypes would take it modulo 2**32
            raise InvalidDevice(f"there is no {self.name}:{index}")
        if index is not None and index >= 0:  # below 0: nothing is changed, as in PyTorch
            checked(library().tidemark_set_device(encoded(self.name), index))

    def stats(self, device: Device) -> Optional[DeviceStats]:
        """None: uninitialised, and then every form of ``device`` is as good as another, as in PyTorch."""
        return _stats.read(self._device(device)) if self.is_initialized() else None

    def number(self, device: Device, family: str, leaf: str) -> int:
        stats = self.stats(device)
        return 0 if stats is None else getattr(getattr(stats, family).all, leaf)

    def reset_peaks(self, device: Device) -> None:
        checked(library().tidemark_reset_peak_memory_stats(None, encoded(self._device(device))))

    def reset_accumulated(self, device: Device) -> None:
        checked(library().tidemark_reset_accumulated_memory_stats(None, encoded(self._device(device))))

    def memory_info(self, device: Device) -> Any:
        return _stats.memory_info(self._device(device))

    def set_limit(self, device: Device, size: int) -> None:
        checked(library().tidemark_set_memory_limit(None, encoded(self._device(device)), size))


class DeviceScope:
    """``with device(1):`` makes it the thread's device; the former comes back behind it. Subclasses name the backend."""

    _backend: Backend

    def __init__(self, device: Device) -> None:
        index = index_of(device, self._backend.name)
        self.idx = self._backend.current_device() if index is None else index
        self.prev_idx = -1

    def __enter__(self) -> "DeviceScope":
        self.prev_idx = self._backend.current_device()
        if self.idx >= 0:
            self._backend.set_device(self.idx)
        return self

    def __exit__(self, *exception: Any) -> None:
        self._backend.set_device(self.prev_idx)
