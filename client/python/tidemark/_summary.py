"""memory_summary(): the counters as a table."""

from typing import List, Optional, Tuple

from ._library import DeviceStats

_BYTES = [
    ("Allocated memory", "allocated_bytes"),
    ("Active memory", "active_bytes"),
    ("Requested memory", "requested_bytes"),
    ("Reserved memory", "reserved_bytes"),
    ("Non-releasable memory", "inactive_split_bytes"),
]
_COUNTS = [
    ("Allocations", "allocation"),
    ("Active allocs", "active"),
    ("Segments", "segment"),
    ("Non-releasable allocs", "inactive_split"),
]
_OVERSIZE = [("Oversize allocations", "oversize_allocations"), ("Oversize segments", "oversize_segments")]

_LEAVES = ("current", "peak", "allocated", "freed")
_WIDTH = 79


class _Unit:
    """The unit of a row: the next one as soon as its figure reaches three quarters of a thousand of this one."""

    def __init__(self, step: int, names: List[str], largest: int) -> None:
        self.divisor, self.name = 1, names[0]
        for name in names[1:]:
            if abs(largest) < 0.75 * step * self.divisor:
                break
            self.divisor, self.name = self.divisor * step, name

    def text(self, value: int) -> str:
        return f"{value // self.divisor:7d} {self.name:>3}"


def _row(label: str, values: Tuple[int, ...], unit: _Unit) -> str:
    return f"| {label:<21} | " + " | ".join(f"{unit.text(value):>11}" for value in values) + " |"


def summary(stats: Optional[DeviceStats], device: str, abbreviated: bool = False) -> str:
    """A table of the counters; of zeros where there are none yet."""
    shown = DeviceStats() if stats is None else stats
    rule = "|" + "-" * (_WIDTH - 2) + "|"
    lines = [
        "|" + "=" * (_WIDTH - 2) + "|",
        "|" + f" Tidemark memory summary, {device}".ljust(_WIDTH - 2) + "|",
        rule,
        "|" + f" OOMs: {shown.num_ooms}   retries: {shown.num_alloc_retries}".ljust(_WIDTH - 2) + "|",
        "|" + "=" * (_WIDTH - 2) + "|",
        "| Metric                |         Now |        Peak |   Allocated |       Freed |",
    ]

    def add(label: str, field: str, step: int, units: List[str], pools: bool) -> None:
        lines.append(rule)
        stat = getattr(shown, field)
        whole = stat.all if pools else stat
        unit = _Unit(step, units, whole.current)
        lines.append(_row(label, tuple(getattr(whole, leaf) for leaf in _LEAVES), unit))
        for pool, name in (("large_pool", "from large pool"), ("small_pool", "from small pool")):
            if pools and not abbreviated:
                part = getattr(stat, pool)
                lines.append(_row(f"      {name}", tuple(getattr(part, leaf) for leaf in _LEAVES), unit))

    for label, field in _BYTES:
        add(label, field, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"], True)
    for label, field in _COUNTS:
        add(label, field, 1000, ["", "K", "M"], True)
    for label, field in _OVERSIZE:
        add(label, field, 1000, ["", "K", "M"], False)
    lines.append("|" + "=" * (_WIDTH - 2) + "|")
    return "\n".join(lines) + "\n"
