"""Runs the benchmarks of a build, all in one go, and prints their figures as Markdown tables.

    table.py BUILD [--rounds N] [--seconds S] [--traces DIRECTORY] [--json FILE]

Every figure of time is the best of N processes (3), taken in turns: the same binary differs by a fifth from one process
start to the next, by where its memory happens to lie, and a busy machine slows whoever runs just then.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from pathlib import Path

import bars
from contenders import DOORS, PEERS, REPLAYERS, UNSEEN, Bench, best, run

NS = {'ns': 1.0, 'us': 1e3, 'ms': 1e6, 's': 1e9}
DOOR_WORKLOADS = ['fixed4k', 'window256', 'layers']
PUBLISHING_ROUNDS = 9


def markdown(head, rows):
    print('| ' + ' | '.join(head) + ' |')
    print('|' + '---|' * len(head))
    for row in rows:
        print('| ' + ' | '.join(row) + ' |')
    print(flush=True)


def nanoseconds(value):
    return f'{value:.1f}' if value < 10 else f'{value:,.0f}'


def p50_and_mean(figure):
    return '-' if figure is None else f'{nanoseconds(figure["p50"])} ({nanoseconds(figure["mean"])})'


def measure(bench, contenders, rounds, *arguments):
    """Contender's title to workload/threads to figures; a title comes twice below, so the contender's place stands for it."""
    there = [(place, who) for place, who in enumerate(contenders) if bench.has('workload_bench', who)]
    runs = {place: [] for place, _ in there}
    for _ in range(rounds):
        for place, who in there:
            runs[place].append(bench.run('workload_bench', who, *arguments))
    return {place: best(some) for place, some in runs.items()}


def compare(bench, options):
    measured = measure(bench, PEERS, options.rounds, '--seconds', options.seconds)
    figures = {PEERS[place].title: some for place, some in measured.items()}
    names = [name for name in next(iter(figures.values()), {}) if any(some[name] for some in figures.values())]
    print('Nanoseconds for one allocation and one free: median (mean)\n')
    markdown(['workload, threads', *figures],
             [[f'{bars.WORKLOADS[name.split("/")[0]][0]}, {name.split("/")[1]}',
               *(p50_and_mean(some[name]) for some in figures.values())] for name in names])
    return figures


def publishing(bench, options):
    """Contender's title to workload to what publishing adds: of two processes that ran one after the other, many times, the
    median difference. A single one says nothing: it is smaller than what two starts of the same differ by."""
    works = [name for name, (_, _, most) in bars.WORKLOADS.items() if most]
    arguments = ['--threads', 1, '--seconds', options.seconds / 2, *works]
    differences = {}
    rows = []
    for seen, unseen in UNSEEN if bench.has('workload_bench', UNSEEN[0][0]) else []:
        pairs = []
        for i in range(PUBLISHING_ROUNDS):
            turns = [seen, unseen] if i % 2 else [unseen, seen]
            pairs.append({who.title: bench.run('workload_bench', who, *arguments) for who in turns})
        p50 = {who.title: [[one[who.title][f'{work}/1']['p50'] for one in pairs] for work in works] for who in (seen, unseen)}
        own = [statistics.median(on - off for on, off in zip(*both)) for both in zip(p50[seen.title], p50[unseen.title])]
        differences[seen.title] = dict(zip(works, own))
        for who in (seen, unseen):
            rows.append([who.title, *(nanoseconds(statistics.median(some)) for some in p50[who.title])])
        rows.append(['median difference', *(f'{value:.1f}' for value in own)])
    print('What publishing adds in one thread; ns for a pair, medians over processes\n')
    markdown(['', *(bars.WORKLOADS[work][0] for work in works)], rows)
    return differences


def replay(bench, options):
    """Contender's title to one figure a trace; empty where something is missing, which is said."""
    files = sorted(options.traces.glob('*.csv'))
    there = [who for who in REPLAYERS if bench.has('trace_bench', who)]
    if not files or not there:
        print(f'No traces in {options.traces}: that part is left out.\n' if not files else
              'Traces are replayed over the null CUDA driver, which this build has not.\n')
        return {}
    replays = {who.title: [bench.run('trace_bench', who, file) for file in files] for who in there}
    print('Recorded programs on a device of 80 GiB: live peak / reserved peak; driver calls (allocations + frees) in the '
          'first and the second pass; ns for a pair in later passes\n')

    def cell(one):
        passes = ', '.join(f'{one[which]["driver_allocations"]}+{one[which]["driver_frees"]}' for which in ('first', 'second'))
        return f'{one["live_peak"] / one["reserved_peak"]:.3f}; {passes}; {one["later_ns"]:.0f}'

    rows = [[file.stem, *(cell(replays[who.title][i]) for who in there)] for i, file in enumerate(files)]

    def total(some):
        passes = [sum(bars.calls(one[which]) for one in some) for which in ('first', 'second')]
        return f'{bars.efficiency(some):.3f}; {passes[0]}, {passes[1]}'

    rows.append(['mean; all calls', *(total(replays[who.title]) for who in there)])
    markdown(['trace', *replays], rows)
    return replays


def judge(figures, differences, replays):
    found = [*bars.speed(figures), *bars.publishing(differences), *(bars.traces(replays) if replays else [])]
    if not any('CUB' in bar.asked for bar in found):
        print('CUB is not in this build: its bars are left out.\n')
    markdown(['bar', 'asked', 'found', ''], [[bar.what, bar.asked, bar.found, 'met' if bar.is_met else '**missed**']
                                             for bar in found])
    return [vars(bar) for bar in found]


def other_doors(bench, options):
    measured = measure(bench, DOORS, options.rounds, '--seconds', options.seconds, *DOOR_WORKLOADS)
    print('The same programs with and without Tidemark, one thread; ns for one allocation and one free, median\n')
    markdown(['', *(bars.WORKLOADS[name][0] for name in DOOR_WORKLOADS)],
             [[DOORS[place].title, *('-' if some[f'{name}/1'] is None else nanoseconds(some[f'{name}/1']['p50'])
                                     for name in DOOR_WORKLOADS)] for place, some in measured.items()])
    return {f'{DOORS[place].drivers}, {DOORS[place].program}, {DOORS[place].title}': some for place, some in measured.items()}


def google_benchmark(rounds, command, min_time, environment=None):
    """Nanoseconds for one iteration by the benchmark's name, the best of some processes."""
    runs = []
    for _ in range(rounds):
        output = run([*command, '--benchmark_format=json', f'--benchmark_min_time={min_time}'], environment or {})
        # The CPU's time where nothing waits: on a busy machine the clock measures the others too.
        runs.append({one['name']: one['real_time' if 'real_time' in one['name'] else 'cpu_time'] * NS[one['time_unit']]
                     for one in output['benchmarks']})
    return {name: min(one[name] for one in runs) for name in runs[0]}


def starts_segment_and_stacks(build, library, rounds):
    loads = google_benchmark(rounds, [str(build / 'bench/load_bench'), str(library),
                                      str(build / 'bench/libtidemark_empty.so')], 1)
    segment = google_benchmark(rounds, [str(build / 'bench/segment_bench')], 0.2)
    markdown(['the life of /bin/true', 'us'],
             [[name.split('/')[0].replace('_', ' '), f'{value / 1e3:.0f}'] for name, value in loads.items()])
    markdown(['the segment', 'ns'], [[name.replace('_', ' '), nanoseconds(value)] for name, value in segment.items()])
    stacks = google_benchmark(rounds, [str(build / 'bench/stacks_bench')], 0.2)
    markdown(['a stack of 20 or 40 frames', 'ns'], [[name.replace('_', ' '), nanoseconds(value)] for name, value in stacks.items()])
    return {'load': loads, 'segment': segment, 'stacks': stacks}


def ranges(build, library, rounds):
    """A way to run the program to nanoseconds for one push and pop of NVTX; empty where there are no headers of it."""
    program = build / 'bench/range_bench'
    if not program.exists():
        print('No NVTX headers in this build: the cost of a range is left out.\n')
        return {}
    with tempfile.TemporaryDirectory(prefix='tidemark-bench.') as directory:
        alone = {'LD_LIBRARY_PATH': str(build / 'simulator')}
        under = alone | {'LD_PRELOAD': str(library), 'TIDEMARK_DIR': directory}
        ways = {'no tool': alone, 'Tidemark': under, 'Tidemark, run --nvtx': under | {'NVTX_INJECTION64_PATH': str(library)}}
        found = {way: google_benchmark(rounds, [str(program)], 0.2, environment) for way, environment in ways.items()}
    names = list(next(iter(found.values())))
    markdown(['an NVTX range, ns', *(name.replace('_', ' ') for name in names)],
             [[way, *(nanoseconds(some[name]) for name in names)] for way, some in found.items()])
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('build', type=Path)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--seconds', type=float, default=0.1, help='for each workload')
    parser.add_argument('--traces', type=Path, default=Path(__file__).resolve().parents[2] / 'shared/traces')
    parser.add_argument('--json', type=Path, help='all figures')
    options = parser.parse_args()
    bench = Bench(options.build)
    load = os.getloadavg()[0]
    print(f'{platform.machine()}, {os.cpu_count()} CPUs, best of {options.rounds} processes, load {load:.1f} at the start'
          f'{": others are at work, read ratios rather than figures" if load > 0.5 else ""}\n')
    everything = {'peers': compare(bench, options), 'publishing': publishing(bench, options),
                  'traces': replay(bench, options)}
    everything['bars'] = judge(everything['peers'], everything['publishing'], everything['traces'])
    everything['doors'] = other_doors(bench, options)
    everything |= starts_segment_and_stacks(bench.build, bench.library, options.rounds)
    everything['ranges'] = ranges(bench.build, bench.library, options.rounds)
    if options.json:
        options.json.write_text(json.dumps(everything, indent=1), encoding='utf-8')


sys.exit(main())
