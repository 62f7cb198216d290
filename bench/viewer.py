"""What looking costs where there is much to see: `tidemark ps --json`, `tidemark top` and `tidemark export`.

    bench/viewer.py BUILD [--processes 500] [--runs 20] [--seconds 20]
"""

import argparse
import contextlib
import http.client
import os
import pty
import re
import select
import signal
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

MOST_PS_MS = 50
MOST_TOP_PERCENT = 1
MOST_SCRAPE_MS = 100
MOST_EXPORTER_MIB = 30
SETTLED_S = 3  # what starting costs is not what watching costs


@contextlib.contextmanager
def crowd(build, processes, directory):
    """Processes with two devices each, for as long as the block lasts."""
    command = [build / 'bench/viewer_crowd', str(processes), directory]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout.readline() != 'ready\n':
            raise SystemExit('the crowd could not start')
        try:
            yield
        finally:
            process.stdin.close()


def measure_ps(viewer, environment, runs):
    """Milliseconds of each run: by the clock, and of the processor."""
    clock, processor = [], []
    for _ in range(runs):
        begin = time.perf_counter()
        with subprocess.Popen([viewer, 'ps', '--json'], env=environment, stdout=subprocess.PIPE) as process:
            size = len(process.stdout.read())
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        clock.append(1e3 * (time.perf_counter() - begin))
        processor.append(1e3 * (usage.ru_utime + usage.ru_stime))
        if process.returncode != 0:
            raise SystemExit('ps failed')
    return clock, processor, size


def processor_seconds(pid):
    fields = Path(f'/proc/{pid}/stat').read_text(encoding='utf-8').rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def drain(terminal, seconds):
    """Takes what top draws, for a while; returns how much."""
    drawn = 0
    end = time.monotonic() + seconds
    while (rest := end - time.monotonic()) > 0:
        if select.select([terminal], [], [], rest)[0]:
            drawn += len(os.read(terminal, 1 << 16))
    return drawn


def measure_top(viewer, environment, seconds):
    """Percent of one core that top takes with one look a second."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(viewer, [viewer, 'top', '-i', '1'], dict(environment, TERM='xterm', LINES='40', COLUMNS='120'))
    try:
        if drain(terminal, SETTLED_S) == 0:
            raise SystemExit('top drew nothing')
        before, begin = processor_seconds(pid), time.monotonic()
        drain(terminal, seconds)
        return 100 * (processor_seconds(pid) - before) / (time.monotonic() - begin)
    finally:
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        os.close(terminal)


def measure_export(viewer, environment, runs, seconds):
    """Milliseconds of each scrape by the clock, and of a processor on average; bytes of a page; percent of one core between scrapes, and MiB of memory."""
    command = [viewer, 'export', '--listen', '127.0.0.1:0']
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = int(re.search(r':(\d+)/', process.stdout.readline())[1])
            time.sleep(SETTLED_S)
            clock, before = [], processor_seconds(process.pid)
            connection = http.client.HTTPConnection('127.0.0.1', port)
            for _ in range(runs):
                begin = time.perf_counter()
                connection.request('GET', '/metrics')
                size = len(connection.getresponse().read())
                clock.append(1e3 * (time.perf_counter() - begin))
            processor = 1e3 * (processor_seconds(process.pid) - before) / runs
            before, begin = processor_seconds(process.pid), time.monotonic()
            time.sleep(seconds)
            percent = 100 * (processor_seconds(process.pid) - before) / (time.monotonic() - begin)
            status = Path(f'/proc/{process.pid}/status').read_text(encoding='utf-8')
            return clock, processor, size, percent, int(re.search(r'VmHWM:\s+(\d+)', status)[1]) / 1024
        finally:
            process.terminate()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('build', type=Path)
    parser.add_argument('--processes', type=int, default=500)
    parser.add_argument('--runs', type=int, default=20)
    parser.add_argument('--seconds', type=float, default=20)
    options = parser.parse_args()
    viewer = options.build / 'bin/tidemark'
    with tempfile.TemporaryDirectory(prefix='tidemark-bench.', dir='/dev/shm') as directory:
        environment = dict(os.environ, TIDEMARK_DIR=directory)
        with crowd(options.build, options.processes, directory):
            clock, processor, size = measure_ps(viewer, environment, options.runs)
            percent = measure_top(viewer, environment, options.seconds)
            scrapes, scrape_ms, page, export_percent, mib = measure_export(viewer, environment, options.runs, options.seconds)
    print(f'{options.processes} processes with 2 devices each')
    print(f'ps --json, {size >> 10} KiB: {min(clock):.1f} ms at best, {statistics.median(clock):.1f} ms in the middle of '
          f'{len(clock)} runs; {statistics.median(processor):.1f} ms of a processor (asked: under {MOST_PS_MS} ms)')
    print(f'top, a look a second: {percent:.2f} % of a core (asked: under {MOST_TOP_PERCENT} %)')
    print(f'export, {page >> 10} KiB: a scrape {min(scrapes):.1f} ms at best, {statistics.median(scrapes):.1f} ms in the middle, '
          f'{max(scrapes):.1f} ms at worst of {len(scrapes)}; {scrape_ms:.1f} ms of a processor (asked: under {MOST_SCRAPE_MS} ms)')
    print(f'export, asking every process for its peaks once a second: {export_percent:.1f} % of a core, at most {mib:.1f} MiB '
          f'(asked: under {MOST_EXPORTER_MIB} MiB)')


main()
