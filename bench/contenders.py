"""What is compared, and how one process of it is run.

A contender is a program of the build in an environment of its own: nothing of Tidemark is in the process of a peer.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

OFF = {'TIDEMARK_SHM': 'off'}
FAST = {'TIDEMARK_FREE': 'fast'}
SPLIT = {'TIDEMARK_ALLOC_CONF': 'large:split'}


@dataclass(frozen=True)
class Contender:
    title: str
    program: str  # workload_bench_PROGRAM, trace_bench_PROGRAM
    drivers: str = 'bench/null'  # below the build: whose libcuda and libcudart
    preloads: bool = False
    more: dict = field(default_factory=dict)


MALLOC = Contender('malloc', 'host')
CUB = Contender('CUB', 'cub')
STRICT = Contender('Tidemark, strict', 'cudart', preloads=True)
FAST_FREES = Contender('Tidemark, fast', 'cudart', preloads=True, more=FAST)
PEERS = [MALLOC, CUB, STRICT, FAST_FREES]

# Each of ours, and the same without its counters published.
UNSEEN = [(STRICT, Contender('strict, not published', 'cudart', preloads=True, more=OFF)),
          (FAST_FREES, Contender('fast, not published', 'cudart', preloads=True, more=FAST | OFF))]

# The same programs, with and without us, on each of their drivers.
DOORS = [
    Contender('null runtime', 'cudart'),
    Contender('... with Tidemark', 'cudart', preloads=True),
    Contender('null driver', 'cuda'),
    Contender('... with Tidemark', 'cuda', preloads=True),
    Contender('... counting alone', 'cuda', preloads=True, more={'TIDEMARK_MODE': 'count'}),
    Contender('... every one a miss', 'cuda', preloads=True, more={'TIDEMARK_ALLOC_CONF': 'max_cached_mb:0'}),
    Contender('CUDA simulator', 'cudart', 'simulator'),
    Contender('... with Tidemark', 'cudart', 'simulator', preloads=True),
    Contender('MTIA simulator', 'mtia', 'simulator'),
    Contender('... with Tidemark', 'mtia', 'simulator', preloads=True),
]

PYTORCH = Contender("PyTorch's algorithm", 'pytorch')
WHOLE = Contender('Tidemark', 'cudart', preloads=True)
WHOLE_FAST = Contender('Tidemark, fast', 'cudart', preloads=True, more=FAST)
SPLITTING = Contender('Tidemark, split', 'cudart', preloads=True, more=SPLIT)
SPLITTING_FAST = Contender('Tidemark, split, fast', 'cudart', preloads=True, more=SPLIT | FAST)
REPLAYERS = [CUB, PYTORCH, WHOLE, WHOLE_FAST, SPLITTING, SPLITTING_FAST]


class Bench:
    """The programs of one build."""

    def __init__(self, build):
        self.build = Path(build).resolve()
        self.library = self.build / 'lib/libtidemark.so'

    def program(self, kind, contender):
        return self.build / f'bench/{kind}_{contender.program}'

    def has(self, kind, contender):
        return self.program(kind, contender).exists()

    def run(self, kind, contender, *arguments):
        """What the program printed; ends everything if it failed or left a segment behind."""
        with tempfile.TemporaryDirectory(prefix='tidemark-bench.') as directory:
            environment = {'LD_LIBRARY_PATH': str(self.build / contender.drivers)}
            if contender.preloads:
                environment |= {'LD_PRELOAD': str(self.library), 'TIDEMARK_DIR': directory, **contender.more}
            output = run([str(self.program(kind, contender)), *map(str, arguments)], environment)
            if os.listdir(directory):
                sys.exit(f'{contender.title}: left {os.listdir(directory)} behind')
        return output


def run(command, environment):
    clean = {'PATH': '/usr/bin:/bin', 'LANG': 'C', **environment}
    done = subprocess.run(command, env=clean, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f'{command[0]}: exit code {done.returncode}\n{done.stderr}')
    return json.loads(done.stdout)


def best(runs):
    """Of every figure the least over some runs of the same: what others did to the machine only adds to it."""
    least = {}
    for name in runs[0]:
        figures = [one[name] for one in runs if one[name] is not None]
        least[name] = {key: min(one[key] for one in figures) for key in figures[0]} if figures else None
    return least
