"""Runs the benchmarks of a build and prints their figures as one Markdown table.

    table.py BUILD [--rounds N] [--json FILE]

Every figure is the fastest of N processes (3): the same binary differs by a fifth from one process start to the next, by
where its memory happens to lie, and the slower ones measure that.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS = [('pair/4096', 'pair of 4 KiB'), ('pair/4194304', 'pair of 4 MiB'), ('window256', '256 live, one replaced'),
        ('layers96', '96 layers forward and backward'), ('pair4k_threads/real_time/threads:2', 'pair of 4 KiB, 2 threads')]

# Column, program, drivers' directory below the build, preload, further environment.
COLUMNS = [
    ('malloc', 'host', '', False, {}),
    ('MTIA simulator', 'mtia', 'simulator', False, {}),
    ('... with Tidemark', 'mtia', 'simulator', True, {}),
    ('CUDA simulator', 'cuda', 'simulator', False, {}),
    ('... with Tidemark', 'cuda', 'simulator', True, {}),
    ('... its runtime', 'cudart', 'simulator', False, {}),
    ('... with Tidemark', 'cudart', 'simulator', True, {}),
    ('null driver', 'cuda', 'bench/null', False, {}),
    ('... with Tidemark', 'cuda', 'bench/null', True, {}),
    ('... fast frees', 'cuda', 'bench/null', True, {'TIDEMARK_FREE': 'fast'}),
    ('... every one a miss', 'cuda', 'bench/null', True, {'TIDEMARK_ALLOC_CONF': 'max_cached_mb:0'}),
    ('... count only', 'cuda', 'bench/null', True, {'TIDEMARK_MODE': 'count'}),
]

NS = {'ns': 1.0, 'us': 1e3, 'ms': 1e6, 's': 1e9}


def run(command, environment, min_time):
    """Nanoseconds for one iteration (for one item, where the benchmark counts items), by the benchmark's name."""
    clean = {'PATH': '/usr/bin:/bin', 'LANG': 'C', **environment}
    done = subprocess.run([*command, '--benchmark_format=json', f'--benchmark_min_time={min_time}'], env=clean,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f'{command[0]}: exit code {done.returncode}\n{done.stderr}')
    figures = {}
    for one in json.loads(done.stdout)['benchmarks']:
        if one.get('error_occurred'):
            sys.exit(f'{command[0]}: {one["name"]}: {one["error_message"]}')
        per_item = one.get('items_per_second')
        # The CPU's time where nothing waits: on a busy machine the clock measures the others too.
        time = one['real_time' if 'real_time' in one['name'] else 'cpu_time']
        figures[one['name']] = 1e9 / per_item if per_item else time * NS[one['time_unit']]
    return figures


def best_of(rounds, command, environment, min_time=0.2):
    runs = [run(command, environment, min_time) for _ in range(rounds)]
    return {name: min(one[name] for one in runs) for name in runs[0]}


def nanoseconds(value):
    return '-' if value is None else f'{value:.1f}' if value < 10 else f'{value:,.0f}'


def markdown(head, rows):
    print('| ' + ' | '.join(head) + ' |')
    print('|' + '---|' * len(head))
    for row in rows:
        print('| ' + ' | '.join(row) + ' |')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('build', type=Path)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--json', type=Path, help='all figures, in nanoseconds')
    options = parser.parse_args()
    build = options.build.resolve()
    library = build / 'lib/libtidemark.so'
    everything = {}

    with tempfile.TemporaryDirectory(prefix='tidemark-bench.') as directory:
        columns = []
        for title, program, drivers, preloaded, more in COLUMNS:
            binary = build / f'bench/pairs_bench_{program}'
            if not binary.exists():
                continue
            environment = {'LD_LIBRARY_PATH': str(build / drivers), **more}
            if preloaded:
                environment |= {'LD_PRELOAD': str(library), 'TIDEMARK_DIR': directory}
            columns.append((title, best_of(options.rounds, [str(binary)], environment)))
            if os.listdir(directory):
                sys.exit(f'{title}: left {os.listdir(directory)} behind')
        print(f'{platform.machine()}, {os.cpu_count()} CPUs, best of {options.rounds} processes; ns for one allocation and one free\n')
        markdown(['column', *(label for _, label in ROWS)],
                 [[title, *(nanoseconds(figures.get(name)) for name, _ in ROWS)] for title, figures in columns])
        everything['pairs'] = [{'column': title, **figures} for title, figures in columns]

    loads = best_of(options.rounds, [str(build / 'bench/load_bench'), str(library), str(build / 'bench/libtidemark_empty.so')], {}, 1)
    segment = best_of(options.rounds, [str(build / 'bench/segment_bench')], {})
    print()
    markdown(['the life of /bin/true', 'us'],
             [[name.split('/')[0].replace('_', ' '), f'{value / 1e3:.0f}'] for name, value in loads.items()])
    print()
    markdown(['the segment', 'ns'], [[name.replace('_', ' '), nanoseconds(value)] for name, value in segment.items()])
    everything |= {'load': loads, 'segment': segment}
    if options.json:
        options.json.write_text(json.dumps(everything, indent=1), encoding='utf-8')


main()
