"""Does PyTorch's own reader of snapshots accept ours, and find the same numbers?

    memory_viz.py BUILD_DIRECTORY

Takes `torch/cuda/_memory_viz.py` out of a pinned PyTorch of the registry (its smallest build; the file is the same in all,
and needs nothing of the rest), kept in the build directory. Exits 77 (skipped) with the reason where it can't be had.
"""

import json
import os
import pickle
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import environments

RELEASE = 'torch==2.6.0'
PLATFORM = ['--platform', 'macosx_11_0_arm64', '--python-version', '3.11', '--only-binary=:all:']
MEMBER = 'torch/cuda/_memory_viz.py'
LIMIT_S = 120


def their_reader(root):
    reader = root / f'memory_viz/{RELEASE}/_memory_viz.py'
    if reader.exists():
        return reader
    with tempfile.TemporaryDirectory(dir=root) as place:
        download = [sys.executable, '-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-input', '--no-deps',
                    '--retries', '1', '--timeout', '20', '--dest', place, *PLATFORM, RELEASE]
        done = subprocess.run(download, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=environments.INSTALL_S, check=False)
        if done.returncode != 0:
            raise environments.Unavailable(f'pip could not fetch {RELEASE}: {environments.last_line(done.stdout)}')
        with zipfile.ZipFile(next(Path(place).glob('*.whl'))) as wheel:
            text = wheel.read(MEMBER)
    reader.parent.mkdir(parents=True, exist_ok=True)
    reader.write_bytes(text)
    return reader


def run(*command):
    return subprocess.run([*map(str, command)], stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True).stdout


def expect(truth, words):
    if not truth:
        raise SystemExit(f'failed: {words}')


def their_size(count):
    for unit in ('', 'Ki', 'Mi', 'Gi'):
        if count < 1024:
            return f'{count:3.1f}{unit}B'
        count /= 1024


def check(build, reader, directory):
    tidemark = build / 'bin/tidemark'
    raw, snapshot = directory / 'sample.tmsnap', directory / 'sample.pickle'
    run(build / 'tests/bin/viewer_sample_history', raw)
    run(tidemark, 'snapshot', raw, '-o', snapshot)
    report = json.loads(run(tidemark, 'report', snapshot, '--json'))['devices'][0]

    stats = run(sys.executable, reader, 'stats', snapshot)
    for name, figure in (('total_reserved', report['reserved_bytes']), ('total_allocated', report['held']['requested_bytes'])):
        expect(f'{name}: {their_size(figure)}' in stats, f'{name} is not {their_size(figure)}:\n{stats}')
    expect(f'segments: {report["segments"]}' in stats, f'not {report["segments"]} segments:\n{stats}')

    events = pickle.loads(snapshot.read_bytes())['device_traces'][0]
    trace = run(sys.executable, reader, 'trace', snapshot)
    expect(f'{len(events)} entries' in trace, f'not {len(events)} entries:\n{trace[:500]}')
    for action, line in (('free_requested', '\ndel '), ('free_completed', '\n# free completed'), ('segment_free', '\ncudaFree(')):
        count = sum(event['action'] == action for event in events)
        expect(trace.count(line) == count, f'{action}: {trace.count(line)} of {count} in their trace')
    print(f'{len(events)} events, {report["segments"]} segments')
    for plot in ('trace_plot', 'segment_plot'):
        run(sys.executable, reader, plot, snapshot, '-o', directory / f'{plot}.html')

    # What is drawn of stacks needs a script from elsewhere; the text that it would get does not.
    folded = subprocess.run([sys.executable, '-c', FOLDED, reader, snapshot], stdout=subprocess.PIPE, text=True, check=True,
                            timeout=LIMIT_S).stdout
    theirs = sum(int(line.rsplit(' ', 1)[1]) for line in folded.splitlines() if 'active_allocated' in line)
    expect(theirs == report['held']['bytes'], f'by stack they find {theirs}, we say {report["held"]}')
    expect('forward' in folded and 'load' in folded, f'no stacks:\n{folded[:500]}')


FOLDED = '''
import importlib.util, pickle, sys
spec = importlib.util.spec_from_file_location('memory_viz', sys.argv[1])
viz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(viz)
print(viz.memory(pickle.load(open(sys.argv[2], 'rb')), format_flamegraph=lambda lines: lines))
'''


def main():
    build = Path(sys.argv[1]).resolve()
    root = build / 'tests/clients'
    root.mkdir(parents=True, exist_ok=True)
    try:
        reader = their_reader(root)
    except environments.Unavailable as reason:
        print(f'skipped: {reason}')
        return 77
    with tempfile.TemporaryDirectory(prefix='tidemark-client.') as directory:
        os.environ['TIDEMARK_DIR'] = directory
        check(build, reader, Path(directory))
    return 0


if __name__ == '__main__':
    sys.exit(main())
