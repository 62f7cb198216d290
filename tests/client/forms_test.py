"""Every function on memory, by every form in which a device is named, in every state.

    forms_test.py BUILD_DIRECTORY SOURCE_ROOT BACKEND...

Wanted is what PyTorch 2.15 answers: its torch.cuda and torch.mtia before initialisation were asked these very rows.
"""

import sys
import unittest

from python_test import BACKENDS, LIMIT_S, MIB, Case

# What a form means, and the ways to write it.
FORMS = {
    'current': ['', 'None', '"{here}"', 'tidemark.device("{here}")'],
    'first': ['0', 'False', '"{here}:0"', 'tidemark.device("{here}:0")', 'tidemark.device("{here}", 0)'],
    'second': ['1', 'True', '"{here}:1"', 'tidemark.device("{here}:1")'],
    'absent': ['7', '99', '"{here}:7"', 'tidemark.device("{here}", 7)'],
    'negative': ['-1', '-3'],
    'foreign': ['"{other}"', '"{other}:0"', 'tidemark.device("{other}", 0)', '"cpu"', 'tidemark.device("cpu")'],
    'malformed': ['"{here}:x"', '"{here}:"', '"{here}:-1"', '"nonsense"', '""'],
}
OWN_FORMS = {'first': ['tidemark.{here}.device(0)'], 'second': ['tidemark.{here}.device(1)']}  # not the accelerator's

READS = {
    'mtia': ['memory_allocated', 'max_memory_allocated', 'memory_stats'],
    'cuda': ['memory_allocated', 'max_memory_allocated', 'memory_reserved', 'max_memory_reserved', 'memory_stats',
             'memory_stats_as_nested_dict'],
    'accelerator': ['memory_allocated', 'max_memory_allocated', 'memory_reserved', 'max_memory_reserved', 'memory_stats'],
}
RESETS = {
    'mtia': ['reset_peak_memory_stats'],
    'cuda': ['reset_peak_memory_stats', 'reset_accumulated_memory_stats'],
    'accelerator': ['reset_peak_memory_stats', 'reset_accumulated_memory_stats'],
}
OTHER = {'mtia': 'cuda', 'cuda': 'mtia'}

# 8 MiB were allocated and freed beside 4 MiB that are held. MTIA takes segments of 20 MiB to split, CUDA none.
RESERVED = {'mtia': 20 * MIB, 'cuda': 12 * MIB}


def used(backend):
    return {'memory_allocated': 4 * MIB, 'max_memory_allocated': 12 * MIB, 'memory_reserved': RESERVED[backend],
            'max_memory_reserved': RESERVED[backend]}


class Keys(int):
    """Wanted: a dictionary of so many keys."""


KEYS = {'cuda': Keys(122), 'accelerator': Keys(122), 'mtia': Keys(123)}
NESTED = Keys(17)  # 9 statistics, 2 of oversize, 6 plain numbers


def rows(module, backend, functions):
    """(kind of form, function, call)"""
    for kind, forms in FORMS.items():
        for form in forms + (OWN_FORMS.get(kind, []) if module != 'accelerator' else []):
            argument = form.format(here=backend, other=OTHER[backend])
            for function in functions:
                yield kind, function, f'tidemark.{module}.{function}({argument})'


def of_no_device(module, backend, kind):
    """The error for what is no device there."""
    if kind == 'foreign':
        return ('ValueError', f"doesn't match the current accelerator {backend}." if module == 'accelerator'
                else f'Expected a {backend} device, but got: ')
    return ('RuntimeError', '')


def before_initialisation(module, backend, kind, function):
    """Nothing, whatever is named; but a reset of torch.cuda's goes to its allocator."""
    if function in READS[module]:
        return {} if 'stats' in function else 0
    if module != 'cuda' or kind == 'current':
        return None
    return of_no_device(module, backend, kind) if kind in ('foreign', 'malformed') else ('RuntimeError', 'did you call init?')


def initialised(module, backend, kind, function):
    if kind not in ('current', 'first', 'second'):
        return of_no_device(module, backend, kind)
    if function in RESETS[module]:
        return None
    if 'stats' in function:
        return NESTED if 'nested' in function else KEYS[module]
    return 0


def in_use(module, backend, kind, function):
    is_used = kind in ('current', 'first') and function in used(backend)
    return used(backend)[function] if is_used else initialised(module, backend, kind, function)


class Forms(Case):
    def check(self, guest, backend, functions, wanted):
        for module in (backend, 'accelerator'):
            for kind, function, call in rows(module, backend, functions[module]):
                self.check_row(guest, call, wanted(module, backend, kind, function))

    def check_row(self, guest, call, wanted):
        if isinstance(wanted, Keys):
            self.assert_row(guest, f'len({call})', int(wanted))
        elif wanted == {}:
            self.assert_row(guest, f'dict({call})', {})
        else:
            self.assert_row(guest, call, wanted)

    def test_before_initialisation(self):
        for backend in BACKENDS:
            for shimmed in (True, False):
                guest = self.guest(backend, shimmed)
                self.check(guest, backend, READS, before_initialisation)
                self.check(guest, backend, RESETS, before_initialisation)

    def test_initialised_and_nothing_allocated(self):
        for backend in BACKENDS:
            guest = self.guest(backend)
            guest.value('here.init()')
            self.check(guest, backend, READS, initialised)
            self.check(guest, backend, RESETS, initialised)

    def test_in_use(self):
        for backend in BACKENDS:
            guest = self.guest(backend)
            guest.value('here.set_device(0)')
            guest.value(f'alloc({4 * MIB})')
            guest.value(f'free(alloc({8 * MIB}))')
            self.check(guest, backend, READS, in_use)

    def test_resets_reach_the_device_that_is_named(self):
        for backend in BACKENDS:
            guest = self.guest(backend)
            for kind, _, call in rows(backend, backend, ['reset_peak_memory_stats']):
                if kind not in ('current', 'first', 'second'):
                    continue
                for device in (1, 0):
                    guest.value(f'here.set_device({device})')
                    guest.value(f'free(alloc({8 * MIB}))')
                guest.value(call)
                peaks = [0, 8 * MIB] if kind != 'second' else [8 * MIB, 0]
                with self.subTest(call):
                    self.assertEqual(peaks, guest.value('[here.max_memory_allocated(index) for index in (0, 1)]'))


# Of another process a device is its own; what it has not used it has not.
PROCESS_FORMS = {
    'used': ['', 'None', '0', '"0"', '"{here}"', '"{here}:0"', 'tidemark.device("{here}", 0)'],
    'unused': ['1', '"{here}:1"', '7', '"{other}:0"', '"{other}"', 'tidemark.device("{other}", 0)'],
    'malformed': ['-1', '"{here}:x"', '"nonsense"', '"{here}:-1"', '""'],
}
PROCESS_ERRORS = {'unused': ('InvalidDevice', 'it has '), 'malformed': ('ValueError', 'allowed')}
PROCESS_RESULTS = {'memory_limit': None, 'memory_stats': Keys(122), 'memory_stats_as_nested_dict': Keys(NESTED + 3),
                   'memory_summary': str}
PROCESS_RESETS = ['reset_peak_memory_stats', 'reset_accumulated_memory_stats']


class FormsOfAnotherProcess(Case):
    def opened(self, backend):
        guest, looker = self.guest(backend), self.guest(backend, shimmed=False)
        guest.value('here.set_device(0)')
        guest.value(f'alloc({4 * MIB})')
        guest.value(f'free(alloc({8 * MIB}))')
        looker.answer(f'p = tidemark.Process({guest.process.pid})')
        return guest, looker

    def check(self, looker, backend, functions, wanted):
        for kind, forms in PROCESS_FORMS.items():
            for form in forms:
                for function in functions:
                    call = f'p.{function}({form.format(here=backend, other=OTHER[backend])})'
                    result = wanted(kind, function)
                    if isinstance(result, Keys):
                        self.assert_row(looker, f'len({call})', int(result))
                    elif result is str:
                        self.assert_row(looker, f'type({call}).__name__', 'str')
                    else:
                        self.assert_row(looker, call, result)

    def test_that_lives(self):
        for backend in BACKENDS:
            _, looker = self.opened(backend)
            results = {**PROCESS_RESULTS, **used(backend), **dict.fromkeys(PROCESS_RESETS)}
            for functions in ([*PROCESS_RESULTS, *used(backend)], PROCESS_RESETS):
                self.check(looker, backend, functions, lambda kind, function: PROCESS_ERRORS.get(kind, results[function]))

    def test_that_is_gone(self):
        for backend in BACKENDS:
            guest, looker = self.opened(backend)
            guest.process.stdin.close()
            guest.process.wait(LIMIT_S)
            functions = [*PROCESS_RESULTS, *used(backend), *PROCESS_RESETS]
            self.check(looker, backend, functions, lambda kind, function: PROCESS_ERRORS[kind] if kind == 'malformed'
                       else ('ProcessGone', 'the process has ended'))
            looker.answer('p.close()')
            self.check(looker, backend, functions, lambda kind, function: ('ValueError', 'closed'))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
