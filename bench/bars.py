"""What is asked of us, and whether the figures of a run say that it is so."""

from dataclasses import dataclass

from contenders import CUB, FAST_FREES, PYTORCH, SPLITTING, STRICT, WHOLE

# Workload, times CUB's speed in one thread, nanoseconds of a pair in one thread.
WORKLOADS = {
    'fixed4k': ('4 KiB', 3, 60),
    'lifo': ('LIFO, 512 B to 2 MiB', 4, 60),
    'window256': ('one of 256 replaced', 3, 130),
    'window4096': ('one of 4096 replaced', 4, 130),
    'layers': ('96 layers, forward and backward', 4, None),
    'sawtooth': ('saw-tooth of 60 % of the device', 4, None),
    'crossthread': ('freed by another thread', None, None),
}
PUBLISHING_NS = 5
LEAST_EFFICIENCY = 0.88
CALLS_BESIDE_PYTORCH = 1.2


@dataclass(frozen=True)
class Bar:
    what: str
    asked: str
    found: str
    is_met: bool


def _figure(figures, contender, name, key):
    one = figures.get(contender.title, {}).get(name)
    return None if one is None else one[key]


def _faster_than_cub(figures, ours):
    for work, (title, factor, _) in WORKLOADS.items():
        peer, own = (_figure(figures, who, f'{work}/1', 'p50') for who in (CUB, ours))
        if factor and peer and own:
            yield Bar(f'{ours.title}: {title}', f'{factor}x CUB', f'{peer / own:.1f}x', peer >= factor * own)
    for work, (title, _, _) in WORKLOADS.items():
        peer, own = (_figure(figures, who, f'{work}/2', 'mean') for who in (CUB, ours))
        if peer and own:
            yield Bar(f'{ours.title}: {title}, 2 threads', '1x CUB', f'{peer / own:.1f}x', peer >= own)


def _nanoseconds(figures, ours):
    for work, (title, _, most) in WORKLOADS.items():
        own = _figure(figures, ours, f'{work}/1', 'p50')
        if most and own:
            yield Bar(f'{ours.title}: {title}', f'{most} ns', f'{own:.0f} ns', own <= most)


def speed(figures):
    """`figures`: contender's title to workload/threads to p50 and mean."""
    for ours in (STRICT, FAST_FREES):
        yield from _faster_than_cub(figures, ours)
        yield from _nanoseconds(figures, ours)


def publishing(differences):
    """`differences`: contender's title to nanoseconds for a pair, one a workload."""
    for title, some in differences.items():
        share = sum(some.values()) / len(some)
        yield Bar(f'{title}: publishing, mean of {len(some)} workloads', f'{PUBLISHING_NS} ns', f'{share:.1f} ns', share <= PUBLISHING_NS)


def calls(one):
    return one['driver_allocations'] + one['driver_frees']


def efficiency(replays):
    return sum(one['live_peak'] / one['reserved_peak'] for one in replays) / len(replays)


def traces(replays):
    """`replays`: contender's title to one figure a trace."""
    for ours in (WHOLE, SPLITTING):
        mean = efficiency(replays[ours.title])
        yield Bar(f'{ours.title}: live peak of reserved peak, mean', f'{LEAST_EFFICIENCY}', f'{mean:.3f}',
                  mean >= LEAST_EFFICIENCY)
    most = CALLS_BESIDE_PYTORCH * sum(calls(one['first']) for one in replays[PYTORCH.title])
    first, second = (sum(calls(one[which]) for one in replays[SPLITTING.title]) for which in ('first', 'second'))
    yield Bar(f'{SPLITTING.title}: driver calls, first pass', f"PyTorch's + 20 % = {most:.0f}", f'{first}', first <= most)
    yield Bar(f'{SPLITTING.title}: driver calls, second pass', '0', f'{second}', second == 0)
