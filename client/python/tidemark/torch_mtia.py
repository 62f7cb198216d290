"""Stock PyTorch's ``torch.mtia`` on the MTIA driver, with Tidemark's numbers.

    import torch
    import tidemark.torch_mtia        # right behind it: before anything asks torch for an accelerator

From then on ``torch.mtia`` and ``torch.accelerator`` have the driver's devices, ``torch.empty(.., device="mtia")`` allocates
through it, and their memory functions say what Tidemark counts. Needs the extension ``libtidemark-torch-mtia.so``, which
is built where a PyTorch of 2.9 or newer is installed (docs/torch-mtia.md).
"""

import os
import tempfile
from pathlib import Path
from typing import Any, Dict, Optional

import torch

from . import _library, _observers, _snapshot as _snapshots, _stats, mtia

__all__ = []


def _load() -> None:
    client = Path(_library.library()._name)
    if not client.is_absolute():  # the loader found it: where, the process knows
        maps = Path("/proc/self/maps").read_text().split("\n")
        client = Path(next(line.split(None, 5)[5] for line in maps if line.endswith(client.name)))
    extension = client.parent / "libtidemark-torch-mtia.so"
    if not extension.is_file():
        raise ImportError(f"{extension} is not there: it is built where torch 2.9 or newer is installed")
    torch.ops.load_library(str(extension))
    if torch.mtia.device_count() != mtia.device_count():
        raise ImportError(
            "torch was asked for an accelerator before tidemark.torch_mtia was imported, and keeps that answer: "
            "import it right behind torch"
        )


# What the extension calls.


def _memory_stats(index: int) -> Dict[str, Any]:
    """Always with ``dram``: torch.mtia reads it without a look."""
    found = _stats.read(f"mtia:{index}" if index >= 0 else "mtia")
    stats = _library.DeviceStats() if found is None else found
    return {"dram": _stats.dram(stats), **_stats.flat(stats)}


def _snapshot(path: Optional[str]) -> Optional[Dict[str, Any]]:
    """With a path, a file: by its ending, and a pickle under any other name."""
    if path is None:
        return _snapshots.take()
    if path.endswith((".pickle", ".json", ".csv", ".tmsnap")):
        _snapshots.export(path)
        return None
    with tempfile.TemporaryDirectory(prefix=".tidemark-", dir=os.path.dirname(os.path.abspath(path))) as place:
        made = os.path.join(place, "snapshot.pickle")
        _snapshots.export(made)
        os.replace(made, path)
    return None


def _attach(observer: Any) -> None:
    _observers.attach(observer)


_load()
