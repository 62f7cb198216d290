"""Snapshots as Python objects."""

import os
import pickle
import tempfile
from typing import Any, Dict, Optional

from ._library import Handle, checked, encoded, library, unsigned


class _PlainData(pickle.Unpickler):
    """Lists, dictionaries, numbers and texts: a snapshot has nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"a snapshot has no {module}.{name}")


def export(path: "os.PathLike[str] | str", process: Optional[Handle] = None) -> None:
    """Writes the snapshot of a process; the name's ending says how."""
    checked(library().tidemark_export_memory_history(process, encoded(path)))


def take(process: Optional[Handle] = None) -> Dict[str, Any]:
    """The snapshot of a process, as ``torch.cuda.memory._snapshot()`` has it."""
    with tempfile.TemporaryDirectory(prefix="tidemark-") as folder:
        path = os.path.join(folder, "snapshot.pickle")
        export(path, process)
        with open(path, "rb") as file:
            return _PlainData(file).load()


def record(
    enabled: Optional[str], stacks: Optional[str], max_entries: int, process: Optional[Handle] = None
) -> None:
    """Memory history on ("state", "all") or off (None)."""
    entries = unsigned(max_entries, "max_entries")
    checked(library().tidemark_record_memory_history(process, encoded(enabled), encoded(stacks), entries))
