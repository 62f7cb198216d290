"""Counters of a device, as PyTorch's dictionaries."""

import ctypes
from collections import OrderedDict
from typing import Any, Dict, Optional, Tuple

from . import _library
from ._errors import NOT_INITIALIZED
from ._library import DeviceStats, Handle, checked, encoded, library


def read(name: Optional[str], process: Optional[Handle] = None) -> Optional[DeviceStats]:
    """The counters of a device at one moment; None: uninitialised."""
    stats = DeviceStats()
    code = library().tidemark_memory_stats(process, encoded(name), ctypes.byref(stats))
    if code == NOT_INITIALIZED:
        return None
    checked(code)
    return stats


def nested(stats: DeviceStats) -> Dict[str, Any]:
    """As ``torch.cuda.memory_stats_as_nested_dict``."""

    def leaves(stat: _library.Stat) -> Dict[str, int]:
        return {leaf: getattr(stat, leaf) for leaf in _library.LEAVES}

    result: Dict[str, Any] = {}
    for family in _library.FAMILIES:
        array = getattr(stats, family)
        result[family] = {pool: leaves(getattr(array, pool)) for pool in _library.POOLS}
    for name in _library.OVERSIZE:
        result[name] = leaves(getattr(stats, name))
    for name in _library.SCALARS:
        result[name] = getattr(stats, name)
    return result


def flat(stats: DeviceStats) -> "OrderedDict[str, int]":
    """As ``torch.accelerator.memory_stats``: 122 keys, sorted."""
    pairs = []

    def add(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                add(f"{prefix}.{key}" if prefix else key, inner)
        else:
            pairs.append((prefix, value))

    add("", nested(stats))
    return OrderedDict(sorted(pairs))


def extras(stats: DeviceStats) -> Dict[str, Dict[str, int]]:
    """What Tidemark counts besides: ``cache``, ``held``, ``lifetime_peak``, as in ``tidemark ps --json``."""
    result: Dict[str, Dict[str, int]] = {}
    for group, name in _library.EXTRAS:
        result.setdefault(group, {})[name] = getattr(stats, f"{group}_{name}")
    return result


def dram(stats: DeviceStats) -> Dict[str, int]:
    """The part of an MTIA device's statistics that ``torch.mtia`` reads."""
    return {
        "allocated_bytes": stats.allocated_bytes.all.current,
        "peak_bytes": stats.allocated_bytes.all.peak,
        "reserved_bytes": stats.reserved_bytes.all.current,
        "peak_reserved_bytes": stats.reserved_bytes.all.peak,
    }


def memory_info(name: Optional[str], process: Optional[Handle] = None) -> Tuple[int, int]:
    """(free, total) bytes of the whole device."""
    free, total = ctypes.c_uint64(), ctypes.c_uint64()
    checked(
        library().tidemark_get_memory_info(process, encoded(name), ctypes.byref(free), ctypes.byref(total))
    )
    return free.value, total.value
