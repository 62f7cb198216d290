"""What a pair of hits costs in instructions, through the exported cudaMalloc and cudaFree, counted by callgrind.

    hit_path.py BUILD COMPILER            beside what hit_path_instructions.json says; tests/gates fails at 10 % more
    hit_path.py BUILD COMPILER --record   writes that file anew, for a change that is meant to cost what it costs
COMPILER: name and version, as CMake says them; the file holds for one.

The null driver below is included (45 of them). Two runs of different length are subtracted, so that starting and ending
cancel out.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

RECORD = Path(__file__).with_name('hit_path_instructions.json')
MOST_GROWTH = 1.10
SKIPPED = 77

# Multiples of what fast frees gather before the driver is asked, so that both runs end at the same point.
SHORT, LONG = 2048, 6144
SIZES = {'4 KiB': 4 << 10, '4 MiB': 4 << 20}
MODES = ['strict', 'fast']


def instructions(build, mode, pairs, size):
    with tempfile.TemporaryDirectory(prefix='tidemark-bench.') as directory:
        environment = {'PATH': '/usr/bin:/bin', 'LD_LIBRARY_PATH': str(build / 'bench/null'),
                       'LD_PRELOAD': str(build / 'lib/libtidemark.so'), 'TIDEMARK_DIR': directory, 'TIDEMARK_FREE': mode}
        done = subprocess.run(['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null',
                               str(build / 'bench/hit_pairs'), str(pairs), str(size)],
                              env=environment, capture_output=True, text=True, check=False)
    counted = re.search(r'Collected : (\d+)', done.stderr)
    if done.returncode != 0 or counted is None:
        sys.exit(f'hit_pairs under valgrind: exit code {done.returncode}\n{done.stderr}')
    return int(counted[1])


def count(build):
    """Instructions of one pair, by mode and size."""
    return {f'{mode}, {name}': round((instructions(build, mode, LONG, size) - instructions(build, mode, SHORT, size))
                                     / (LONG - SHORT))
            for mode in MODES for name, size in SIZES.items()}


def recorded_pairs():
    return json.loads(RECORD.read_text(encoding='utf-8'))['pairs']


def grown(recorded, counted):
    """What costs more than it may, in words."""
    return [f'{name}: {counted[name]} instructions a pair, {recorded[name]} recorded' for name in recorded
            if counted[name] > MOST_GROWTH * recorded[name]]


def reason_to_skip(compiler):
    if shutil.which('valgrind') is None:
        return 'no valgrind (scripts/setup.sh --for test installs it)'
    recorded = json.loads(RECORD.read_text(encoding='utf-8'))['compiler']
    return '' if recorded == compiler else f'recorded with {recorded}, built with {compiler}'


def main():
    build, compiler = Path(sys.argv[1]).resolve(), sys.argv[2]
    if sys.argv[3:] == ['--record']:
        record = {'what': 'instructions of one cudaMalloc and one cudaFree that hit; bench/hit_path.py counts, tests/gates compares',
                  'refresh': f'python3 bench/hit_path.py build/release "{compiler}" --record', 'compiler': compiler,
                  'pairs': count(build)}
        RECORD.write_text(json.dumps(record, indent=1) + '\n', encoding='utf-8')
        return
    reason = reason_to_skip(compiler)
    recorded = recorded_pairs()
    for name, counted in {} if reason else count(build).items():
        print(f'{name}: {counted} instructions a pair, {recorded[name]} recorded')
    print(reason, end='\n' if reason else '')


if __name__ == '__main__':
    main()
