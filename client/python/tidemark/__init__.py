"""PyTorch's memory functions for every program.

    import tidemark

    tidemark.mtia.memory_allocated()                # this process, under ``tidemark run``
    tidemark.Process("train").memory_allocated()    # another one, by pid, id or label

The modules :mod:`tidemark.accelerator`, :mod:`tidemark.cuda` and :mod:`tidemark.mtia` have the names, signatures and
behaviour of those of ``torch``: in a script that asks for memory, ``torch`` can be replaced by ``tidemark``. All sizes
are in bytes.
"""

from . import accelerator, cuda, mtia
from ._device import device
from ._errors import (
    AmbiguousTarget,
    DeferredError,
    DriverError,
    NotInitialized,
    ProcessGone,
    SegmentError,
    TidemarkError,
    TidemarkTimeout,
)
from ._phase import Phase, phase
from ._process import Process

__version__ = "0.1.0"

__all__ = [
    "AmbiguousTarget",
    "DeferredError",
    "DriverError",
    "NotInitialized",
    "Phase",
    "Process",
    "ProcessGone",
    "SegmentError",
    "TidemarkError",
    "TidemarkTimeout",
    "accelerator",
    "cuda",
    "device",
    "is_loaded",
    "mtia",
    "phase",
]


def is_loaded() -> bool:
    """Whether the preload library serves this process."""
    from ._library import library

    return library().tidemark_is_loaded() == 1
