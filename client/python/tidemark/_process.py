"""Another process."""

import os
from collections import OrderedDict
from types import TracebackType
from typing import Any, Dict, List, Optional, Tuple, Type, Union

from . import _library, _snapshot, _stats
from ._errors import NotInitialized
from ._library import DeviceStats, Handle, checked, encoded, library, unsigned
from ._summary import summary


def _name(device: Any) -> Optional[str]:
    """What the library calls a device: None, 1, "cuda:1", torch.device("cuda", 1), "all"."""
    return None if device is None else str(int(device)) if isinstance(device, int) else str(device)


class Process:
    """Another process's memory, by pid, id (8 hex digits) or label.

        with tidemark.Process("train") as train:
            print(train.memory_allocated())

    Devices are its own ("cuda:0", "mtia:1", 1, a ``torch.device``); None is its first. A process that was dead already is
    read as it was left; one that ends later raises :class:`tidemark.ProcessGone`. Sizes are in bytes. Any thread may
    use it.
    """

    def __init__(self, target: Union[int, str]) -> None:
        self._handle: Optional[Handle] = Handle(str(target))

    def _opened(self) -> Handle:
        handle = self._handle  # read once: another thread may close it at any time
        if handle is None:
            raise ValueError("the process was closed")
        return handle

    def close(self) -> None:
        """Lets go of the process's files, at the latest when calls of other threads that are under way have returned.

        Those get their answers; later ones raise ``ValueError``.
        """
        self._handle = None

    def __enter__(self) -> "Process":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        try:
            return f"<tidemark.Process {self.id} pid={self.pid} label={self.label!r} {self.state}>"
        except ValueError:
            return "<tidemark.Process, closed>"

    @property
    def id(self) -> str:
        """8 hex digits."""
        return library().tidemark_process_id(self._opened()).decode()

    @property
    def label(self) -> str:
        """``TIDEMARK_LABEL``; empty for none."""
        return library().tidemark_process_label(self._opened()).decode()

    @property
    def pid(self) -> int:
        """As this process counts; 0: not visible from here, or dead."""
        return checked(library().tidemark_process_pid(self._opened()))

    @property
    def state(self) -> str:
        """ "live", "stopped", "exited", "killed", "replaced"."""
        return library().tidemark_process_state(self._opened()).decode()

    @property
    def devices(self) -> List[str]:
        """The devices that it has used: "cuda:0", ..."""
        return _library.device_names(self._opened())

    def _read(self, device: Any) -> Optional[DeviceStats]:
        return _stats.read(_name(device), self._opened())

    def memory_stats(self, device: Any = None) -> "OrderedDict[str, int]":
        """PyTorch's 122 keys, sorted; empty before its first allocation."""
        stats = self._read(device)
        return OrderedDict() if stats is None else _stats.flat(stats)

    def memory_stats_as_nested_dict(self, device: Any = None) -> Dict[str, Any]:
        """The same as nested dictionaries, with Tidemark's own: ``cache``, ``held``, ``lifetime_peak``."""
        stats = self._read(device)
        return {} if stats is None else {**_stats.nested(stats), **_stats.extras(stats)}

    def memory_summary(self, device: Any = None, abbreviated: bool = False) -> str:
        """The counters as a table."""
        return summary(self._read(device), str(device or (self.devices or ["no device"])[0]), abbreviated)

    def memory_allocated(self, device: Any = None) -> int:
        """In blocks that the program holds."""
        return checked(library().tidemark_memory_allocated(self._opened(), encoded(_name(device))))

    def max_memory_allocated(self, device: Any = None) -> int:
        """The most of it since the last reset."""
        return checked(library().tidemark_max_memory_allocated(self._opened(), encoded(_name(device))))

    def memory_reserved(self, device: Any = None) -> int:
        """Held from the driver, in use or cached."""
        return checked(library().tidemark_memory_reserved(self._opened(), encoded(_name(device))))

    def max_memory_reserved(self, device: Any = None) -> int:
        """The most of it since the last reset."""
        return checked(library().tidemark_max_memory_reserved(self._opened(), encoded(_name(device))))

    def get_memory_info(self, device: Any = None) -> Tuple[int, int]:
        """(free, total) of the device as the process's last question to its driver was answered."""
        return _stats.memory_info(_name(device), self._opened())

    def reset_peak_memory_stats(self, device: Any = "all") -> None:
        """Peaks := what is current, at one moment."""
        checked(library().tidemark_reset_peak_memory_stats(self._opened(), encoded(_name(device))))

    def reset_accumulated_memory_stats(self, device: Any = "all") -> None:
        """Totals and event counts := 0."""
        checked(library().tidemark_reset_accumulated_memory_stats(self._opened(), encoded(_name(device))))

    def empty_cache(self, device: Any = "all") -> None:
        """Gives its cached memory back. On CUDA it does so in its next call: :class:`tidemark.DeferredError` after 5 s."""
        checked(library().tidemark_empty_cache(self._opened(), encoded(_name(device))))

    def set_memory_limit(self, size: Optional[int], device: Any = "all") -> None:
        """How much it may reserve, in bytes; None: no limit."""
        if size is not None and size <= 0:
            raise ValueError(f"a limit of {size} bytes would refuse everything; None is no limit")
        checked(library().tidemark_set_memory_limit(self._opened(), encoded(_name(device)), unsigned(size or 0, "size")))

    def memory_limit(self, device: Any = None) -> Optional[int]:
        """The limit in bytes; None: there is none."""
        code = library().tidemark_memory_limit(self._opened(), encoded(_name(device)))
        try:
            return checked(code) or None
        except NotInitialized:
            return None

    def record_memory_history(
        self, enabled: Optional[str] = "all", stacks: str = "all", max_entries: int = 0
    ) -> None:
        """Memory history on: "state" what is in use, "all" events too; None: off. 0 entries: 150000 of each device."""
        _snapshot.record(enabled, stacks, max_entries, self._opened())

    def snapshot(self) -> Dict[str, Any]:
        """Every block, and what was recorded, as ``torch.cuda.memory._snapshot()`` has it."""
        return _snapshot.take(self._opened())

    def export_memory_history(self, path: "os.PathLike[str] | str") -> None:
        """The same into a file: .pickle (memory_viz), .json, .csv, .tmsnap."""
        _snapshot.export(path, self._opened())
