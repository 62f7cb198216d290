"""libtidemark-client.so: where it lies, and its functions with their types."""

import ctypes
import functools
import os
import re
import shutil
from ctypes import POINTER, c_char_p, c_int, c_int64, c_uint64, c_void_p
from pathlib import Path
from typing import Iterator, List, Optional, Union

from ._errors import raise_code

ABI = 1
_FILE = f"libtidemark-client.so.{ABI}"

Observer = ctypes.CFUNCTYPE(None, c_int, c_int64, c_int64, c_int64, c_void_p)


class Stat(ctypes.Structure):
    """tidemark_stat"""

    _fields_ = [("current", c_int64), ("peak", c_int64), ("allocated", c_int64), ("freed", c_int64)]


class StatArray(ctypes.Structure):
    """tidemark_stat_array"""

    _fields_ = [("all", Stat), ("small_pool", Stat), ("large_pool", Stat)]


FAMILIES = (
    "allocation", "allocated_bytes", "requested_bytes", "active", "active_bytes", "segment", "reserved_bytes",
    "inactive_split", "inactive_split_bytes",
)
POOLS = ("all", "small_pool", "large_pool")
OVERSIZE = ("oversize_allocations", "oversize_segments")
LEAVES = ("current", "peak", "allocated", "freed")
SCALARS = (
    "num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free", "max_split_size",
)
# Behind PyTorch's in the structure; the group and the name of `tidemark ps --json`.
EXTRAS = (
    ("cache", "hits"), ("cache", "misses"), ("cache", "passed_through"), ("cache", "cached_bytes"),
    ("cache", "pending_free_bytes"), ("cache", "pinned_bytes"), ("cache", "driver_ns"), ("cache", "free_wait_ns"),
    ("held", "current_bytes"), ("held", "peak_bytes"), ("lifetime_peak", "allocated_bytes"),
    ("lifetime_peak", "reserved_bytes"), ("lifetime_peak", "held_bytes"),
)  # fmt: skip


class DeviceStats(ctypes.Structure):
    """tidemark_device_stats"""

    _fields_ = (
        [("size", ctypes.c_size_t)]
        + [(name, StatArray) for name in FAMILIES]
        + [(name, Stat) for name in OVERSIZE]
        + [(name, c_int64) for name in SCALARS]
        + [(f"{group}_{name}", c_int64) for group, name in EXTRAS]
        + [("capacity_bytes", c_int64), ("limit_bytes", c_int64)]
    )

    def __init__(self) -> None:
        super().__init__(size=ctypes.sizeof(DeviceStats))


def _candidates() -> Iterator[str]:
    """Where the library may lie, the likeliest first."""
    here = Path(__file__).resolve().parent
    try:  # beside the preload library that serves this process
        maps = Path("/proc/self/maps").read_text()
    except OSError:
        maps = ""
    preloaded = re.search(r"(/\S*)/libtidemark\.so$", maps, re.MULTILINE)
    if preloaded:
        yield f"{preloaded[1]}/{_FILE}"
        yield f"{os.path.dirname(preloaded[1])}/{_FILE}"
    yield _FILE  # LD_LIBRARY_PATH and the system's own places
    yield str(here.parents[2] / "build/release/lib" / _FILE)  # the source tree
    command = shutil.which("tidemark")
    if command:
        prefix = Path(command).resolve().parent.parent
        yield str(prefix / "lib" / _FILE)
        for found in sorted(prefix.glob(f"lib/*/{_FILE}")):
            yield str(found)


def _load() -> ctypes.CDLL:
    for candidate in _candidates():
        try:
            return ctypes.CDLL(candidate)
        except OSError:
            continue
    raise OSError(
        f"{_FILE} was not found: put its directory into LD_LIBRARY_PATH, the program 'tidemark' into PATH, "
        "or start with 'tidemark run -- ...'"
    )


_TYPES = {
    "tidemark_abi": (c_int, []),
    "tidemark_error": (c_char_p, [c_int64]),
    "tidemark_error_detail": (c_char_p, []),
    "tidemark_is_loaded": (c_int, []),
    "tidemark_is_initialized": (c_int, [c_char_p]),
    "tidemark_init": (c_int, [c_char_p]),
    "tidemark_device_count": (c_int, [c_char_p]),
    "tidemark_current_device": (c_int, [c_char_p]),
    "tidemark_set_device": (c_int, [c_char_p, c_int]),
    "tidemark_current_backend": (c_char_p, []),
    "tidemark_open": (c_int, [c_char_p, POINTER(c_void_p)]),
    "tidemark_close": (None, [c_void_p]),
    "tidemark_process_state": (c_char_p, [c_void_p]),
    "tidemark_process_pid": (c_int64, [c_void_p]),
    "tidemark_process_id": (c_char_p, [c_void_p]),
    "tidemark_process_label": (c_char_p, [c_void_p]),
    "tidemark_process_device_count": (c_int, [c_void_p]),
    "tidemark_process_device": (c_char_p, [c_void_p, c_int]),
    "tidemark_memory_stats": (c_int, [c_void_p, c_char_p, POINTER(DeviceStats)]),
    "tidemark_memory_stat": (c_int64, [c_void_p, c_char_p, c_char_p]),
    "tidemark_memory_allocated": (c_int64, [c_void_p, c_char_p]),
    "tidemark_max_memory_allocated": (c_int64, [c_void_p, c_char_p]),
    "tidemark_memory_reserved": (c_int64, [c_void_p, c_char_p]),
    "tidemark_max_memory_reserved": (c_int64, [c_void_p, c_char_p]),
    "tidemark_get_memory_info": (c_int, [c_void_p, c_char_p, POINTER(c_uint64), POINTER(c_uint64)]),
    "tidemark_reset_peak_memory_stats": (c_int, [c_void_p, c_char_p]),
    "tidemark_reset_accumulated_memory_stats": (c_int, [c_void_p, c_char_p]),
    "tidemark_empty_cache": (c_int, [c_void_p, c_char_p]),
    "tidemark_set_memory_limit": (c_int, [c_void_p, c_char_p, c_uint64]),
    "tidemark_memory_limit": (c_int64, [c_void_p, c_char_p]),
    "tidemark_record_memory_history": (c_int, [c_void_p, c_char_p, c_char_p, c_uint64]),
    "tidemark_export_memory_history": (c_int, [c_void_p, c_char_p]),
    "tidemark_attach_out_of_memory_observer": (c_int, [Observer, c_void_p]),
    "tidemark_detach_out_of_memory_observer": (c_int, [Observer, c_void_p]),
    "tidemark_phase_push": (c_int, [c_char_p]),
    "tidemark_phase_pop": (c_int, [POINTER(DeviceStats)]),
    "tidemark_phase_stats": (c_int, [c_char_p, POINTER(DeviceStats)]),
    "tidemark_phase_name": (c_char_p, []),
    "tidemark_phase_begin": (c_int64, []),
    "tidemark_phase_read": (c_int, [c_int64, c_char_p, POINTER(DeviceStats)]),
    "tidemark_phase_end": (c_int, [c_int64]),
}


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The library, loaded by the first call. Raises ``OSError`` where there is none."""
    loaded = _load()
    for name, (result, arguments) in _TYPES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    if loaded.tidemark_abi() != ABI:
        raise OSError(f"{_FILE} has ABI {loaded.tidemark_abi()}, this package needs {ABI}")
    return loaded


def encoded(text: Optional[Union[str, "os.PathLike[str]"]]) -> Optional[bytes]:
    """A C string, or NULL for None."""
    if text is None:
        return None
    whole = os.fsencode(text)
    if b"\0" in whole:
        raise ValueError("embedded null byte")
    return whole


def checked(code: int) -> int:
    """The result of a function, or the exception for its code."""
    if code < -1000:
        raise_code(code, library().tidemark_error_detail().decode(errors="replace"))
    return code


def unsigned(value: int, name: str) -> int:
    """A number as the library takes it, where ctypes would take it modulo 2**64."""
    if not 0 <= value < 1 << 64:
        raise ValueError(f"{name} {value}; allowed: 0 and above")
    return value


class Handle:
    """A process that the library has opened.

    It is closed with the last reference: a call that is under way holds one, whoever lets go of his meanwhile. So nobody
    waits, and nobody reads what was closed.
    """

    def __init__(self, target: str) -> None:
        self._as_parameter_ = c_void_p()  # what ctypes takes for the object
        self._close = library().tidemark_close  # modules may be gone when an interpreter ends
        checked(library().tidemark_open(encoded(target), ctypes.byref(self._as_parameter_)))

    def __del__(self) -> None:
        if hasattr(self, "_close"):
            self._close(self._as_parameter_)


def device_names(process: Optional[Handle] = None) -> List[str]:
    """The devices that a process has used; None: this one."""
    names = []
    while (name := library().tidemark_process_device(process, len(names))) is not None:
        names.append(name.decode())
    return names
