"""PyTorch's memory profiler of MTIA: history from start() to stop()."""

import os

from .. import _snapshot


class MemoryProfiler:
    """Records this process's memory history.

        profiler = tidemark.mtia.MemoryProfiler()
        profiler.start()
        ...
        profiler.export_memory_history("memory.pickle")    # opens in pytorch.org/memory_viz
        profiler.stop()
    """

    def start(self) -> None:
        """Begins with everything: 150000 events of each device, with all stacks."""
        _snapshot.record("all", "all", 150000)

    def stop(self) -> None:
        """Ends it, and forgets what was recorded: export before."""
        _snapshot.record(None, "all", 0)

    def export_memory_history(self, path: "os.PathLike[str] | str") -> None:
        """Every block, and what was recorded so far: .pickle, .json, .csv or .tmsnap, by the name's ending."""
        _snapshot.export(path)
