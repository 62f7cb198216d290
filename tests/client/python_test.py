"""The Python package in processes that allocate on simulated devices, beside what PyTorch's functions would answer.

    python_test.py BUILD_DIRECTORY SOURCE_ROOT BACKEND...
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD, SOURCE, BACKENDS = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:]
HERE = SOURCE / 'tests/client'
MIB = 1 << 20
LIMIT_S = 60


def environment(directory, shimmed, **more):
    settings = {'PATH': f'{BUILD}/bin:/usr/local/bin:/usr/bin:/bin', 'LANG': 'C.UTF-8', 'PYTHONDONTWRITEBYTECODE': '1',
                'PYTHONPATH': str(SOURCE / 'client/python'), 'TIDEMARK_DIR': str(directory),
                'LD_LIBRARY_PATH': f'{BUILD}/simulator:{BUILD}/lib', **more}
    if shimmed:
        settings['LD_PRELOAD'] = str(BUILD / 'lib/libtidemark.so')
    return settings


class Guest:
    """A Python that evaluates what it is told (evaluate.py)."""

    def __init__(self, directory, backend, shimmed=True, inside=(), **more):
        self.process = subprocess.Popen([*inside, sys.executable, HERE / 'evaluate.py', backend], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=environment(directory, shimmed, **more))

    def answer(self, line):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        text = self.process.stdout.readline()
        return json.loads(text) if text else {'error': 'ended', 'bases': [], 'text': self.process.stderr.read()}

    def value(self, line):
        """Of an expression that is plain data."""
        answer = self.answer(line)
        if 'error' in answer:
            raise AssertionError(f'{line}: {answer}')
        return eval(answer['value'], {'OrderedDict': dict})

    def end(self):
        self.process.stdin.close()
        self.process.wait(LIMIT_S)
        self.process.stdout.close()
        self.process.stderr.close()


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = Path(tempfile.mkdtemp(prefix='tidemark-test.'))
        self.addCleanup(shutil.rmtree, self.directory, True)

    def guest(self, backend='mtia', shimmed=True, **more):
        guest = Guest(self.directory, backend, shimmed, **more)
        self.addCleanup(guest.end)
        return guest

    def viewer(self, *words):
        done = subprocess.run([BUILD / 'bin/tidemark', *words], env=environment(self.directory, False), check=True,
                              capture_output=True, text=True, timeout=LIMIT_S)
        return json.loads(done.stdout)

    def assert_row(self, guest, expression, wanted):
        """`wanted`: the value, or (class of the error or of its base, words of the message)."""
        answer = guest.answer(expression)
        with self.subTest(expression):
            if isinstance(wanted, tuple) and len(wanted) == 2 and isinstance(wanted[1], str):
                self.assertIn(wanted[0], answer.get('bases', []), answer)
                self.assertIn(wanted[1], answer['text'])
            else:
                self.assertEqual({'value': repr(wanted)}, answer)


# (expression, wanted) by state. `here` is tidemark.mtia or tidemark.cuda. What PyTorch answers, where it is not said
# otherwise: research on its functions is behind each row.
FORMS = {
    'mtia': ['', 'None', '0', '"mtia"', '"mtia:0"', 'tidemark.device("mtia:1")', 'tidemark.device("mtia", 0)',
             'tidemark.mtia.device(1)', '99', 'True'],
    'cuda': ['', 'None', '0', '"cuda"', '"cuda:0"', 'tidemark.device("cuda:1")', 'tidemark.device("cuda", 0)',
             'tidemark.cuda.device(1)', '99', 'True'],
}
COUNTS = {
    'mtia': ['memory_allocated', 'max_memory_allocated'],
    'cuda': ['memory_allocated', 'max_memory_allocated', 'memory_reserved', 'max_memory_reserved'],
}


class BeforeInitialisation(Case):
    def rows(self, backend, shimmed):
        guest = self.guest(backend, shimmed)
        for form in FORMS[backend]:
            for name in COUNTS[backend]:
                self.assert_row(guest, f'here.{name}({form})', 0)
            self.assertEqual({}, guest.value(f'here.memory_stats({form})'))
            if backend == 'mtia':
                self.assert_row(guest, f'here.reset_peak_memory_stats({form})', None)
        self.assert_row(guest, 'here.is_initialized()', False)
        self.assert_row(guest, 'here.is_available()', shimmed)
        self.assert_row(guest, 'here.device_count()', 2)
        self.assert_row(guest, 'here.current_device()', 0)
        for form in ('', 'None', '0', '99', f'"{backend}:0"'):
            for name in ('memory_allocated', 'max_memory_allocated', 'memory_reserved', 'max_memory_reserved'):
                self.assert_row(guest, f'tidemark.accelerator.{name}({form})', 0)
            self.assertEqual({}, guest.value(f'tidemark.accelerator.memory_stats({form})'))
            for name in ('reset_peak_memory_stats', 'reset_accumulated_memory_stats'):
                self.assert_row(guest, f'tidemark.accelerator.{name}({form})', None)
        self.assert_row(guest, 'tidemark.accelerator.empty_cache()', None)
        return guest

    def test_mtia(self):
        guest = self.rows('mtia', True)
        self.assert_row(guest, 'here.empty_cache()', None)
        self.assert_row(guest, 'here.record_memory_history()', None)
        self.assert_row(guest, 'here.attach_out_of_memory_observer(print)', None)
        self.assert_row(guest, 'here.attach_out_of_memory_observer(5)', ('TypeError', 'callable'))
        self.assertEqual([], guest.value('here.snapshot()')['segments'])

    def test_mtia_without_the_library(self):
        guest = self.rows('mtia', False)
        for call, hook in (('empty_cache()', 'emptyCache'), ('snapshot()', 'memorySnapshot'),
                           ('attach_out_of_memory_observer(print)', 'attachOutOfMemoryObserver')):
            self.assert_row(guest, f'here.{call}', ('RuntimeError', f'Cannot execute {hook}() without MTIA backend.'))
        self.assert_row(guest, 'here.record_memory_history()', None)
        self.assert_row(guest, 'tidemark.is_loaded()', False)
        self.assert_row(guest, 'tidemark.phase("a").__enter__().__exit__(None, None, None)', None)

    @unittest.skipUnless('cuda' in BACKENDS, 'built without CUDA')
    def test_cuda(self):
        for shimmed in (True, False):
            guest = self.rows('cuda', shimmed)
            self.assertEqual({}, guest.value('here.memory_stats_as_nested_dict()'))
            self.assert_row(guest, 'here.empty_cache()', None)
            for name in ('reset_peak_memory_stats', 'reset_accumulated_memory_stats'):
                self.assert_row(guest, f'here.{name}()', None)
                self.assert_row(guest, f'here.{name}(0)', ('RuntimeError', 'Invalid device argument 0: did you call init?'))
            self.assertIn('Tidemark memory summary, cuda:0', guest.value('here.memory_summary()'))
            self.assert_row(guest, 'here.get_per_process_memory_fraction()', 1.0)
            self.assert_row(guest, 'here.set_per_process_memory_fraction(0.5)', ('NotInitialized', ''))


class AfterInitialisation(Case):
    def test_init_alone_makes_zeros_of_nothing(self):
        guest = self.guest('mtia')
        self.assert_row(guest, 'here.init()', None)
        self.assert_row(guest, 'here.is_initialized()', True)
        self.assertEqual(123, len(guest.value('here.memory_stats()')), '122 and dram')
        self.assertEqual({'allocated_bytes': 0, 'peak_bytes': 0, 'reserved_bytes': 0, 'peak_reserved_bytes': 0},
                         guest.value('here.memory_stats(1)["dram"]'))
        self.assert_row(guest, 'here.memory_stats()["max_split_size"]', -1)

    def numbers(self, backend):
        guest = self.guest(backend)
        guest.value('here.set_device(0)')
        pointers = [guest.value(f'alloc({4 * MIB})'), guest.value(f'alloc({8 * MIB})')]
        guest.value(f'free({pointers[1]})')
        for form in ('', 'None', '0', f'"{backend}"', f'"{backend}:0"', f'tidemark.device("{backend}", 0)', 'False'):
            self.assert_row(guest, f'here.memory_allocated({form})', 4 * MIB)
            self.assert_row(guest, f'here.max_memory_allocated({form})', 12 * MIB)
            self.assert_row(guest, f'tidemark.accelerator.memory_allocated({form})', 4 * MIB)
            self.assert_row(guest, f'tidemark.accelerator.max_memory_allocated({form})', 12 * MIB)
        for form in ('7', '-3', f'"{backend}:7"', f'tidemark.device("{backend}", 7)'):
            for call in ('here.memory_allocated', 'here.memory_stats', 'here.reset_peak_memory_stats',
                         'tidemark.accelerator.memory_allocated', 'tidemark.accelerator.reset_peak_memory_stats'):
                self.assert_row(guest, f'{call}({form})', ('RuntimeError', ''))
        self.assert_row(guest, 'here.memory_allocated("cpu")', ('ValueError', f'Expected a {backend} device, but got: cpu'))
        self.assert_row(guest, 'tidemark.accelerator.memory_allocated("cpu")',
                        ('ValueError', f"cpu doesn't match the current accelerator {backend}."))
        self.assert_row(guest, 'tidemark.accelerator.memory_allocated(device_index=0)', ('TypeError', 'positional-only'))
        flat = guest.value('tidemark.accelerator.memory_stats()')
        self.assertEqual(122, len(flat))
        self.assertEqual(sorted(flat), list(flat))
        self.assert_row(guest, 'here.reset_peak_memory_stats()', None)
        self.assert_row(guest, 'here.max_memory_allocated()', 4 * MIB)
        self.assert_row(guest, 'tidemark.accelerator.reset_accumulated_memory_stats()', None)
        self.assert_row(guest, 'tidemark.accelerator.memory_stats()["allocation.all.allocated"]', 0)
        guest.value(f'free({pointers[0]})')
        self.assert_row(guest, 'here.empty_cache()', None)
        self.assert_row(guest, 'tidemark.accelerator.memory_reserved()', 0)
        self.assert_row(guest, f'str(tidemark.accelerator.current_accelerator())', backend)
        self.assert_row(guest, 'tidemark.accelerator.get_memory_info(0)[1] > 0', True)
        return guest

    def test_mtia(self):
        self.numbers('mtia')

    @unittest.skipUnless('cuda' in BACKENDS, 'built without CUDA')
    def test_cuda(self):
        guest = self.numbers('cuda')
        pointer = guest.value(f'alloc({4 * MIB})')
        self.assert_row(guest, 'here.memory_reserved()', 4 * MIB)
        nested, flat = guest.value('here.memory_stats_as_nested_dict()'), guest.value('here.memory_stats()')
        self.assertEqual(flat['allocated_bytes.large_pool.peak'], nested['allocated_bytes']['large_pool']['peak'])
        self.assertEqual(flat['num_ooms'], nested['num_ooms'])
        for fraction, wanted in (('1', ('TypeError', 'must be `float`')), ('1.5', ('ValueError', 'Allowed range: 0~1')),
                                 ('0.5', None)):
            self.assert_row(guest, f'here.set_per_process_memory_fraction({fraction})', wanted)
        self.assert_row(guest, 'here.get_per_process_memory_fraction()', 0.5)
        total = guest.value('here.mem_get_info()')[1]
        self.assert_row(guest, f'alloc({total})', -2)
        self.assert_row(guest, 'here.set_per_process_memory_fraction(1.0)', None)
        self.assert_row(guest, 'here.memory_snapshot()[0]["total_size"]', 4 * MIB)
        self.assert_row(guest, 'here.memory_snapshot((0, 1))', ('ValueError', 'memory pools'))
        self.assert_row(guest, 'here.memory._record_memory_history("some")', ('RuntimeError', "'state', 'all', or None"))
        self.assert_row(guest, 'here.memory._record_memory_history(max_entries=100)', None)
        self.assert_row(guest, f'free({pointer})', 0)
        self.assertEqual(['free_requested', 'free_completed'],
                         [event['action'] for event in guest.value('here.memory._snapshot()["device_traces"][0]')])
        self.assert_row(guest, f'here.memory._dump_snapshot("{self.directory}/any name")', None)
        self.assertEqual(b'\x80\x02', (self.directory / 'any name').read_bytes()[:2], 'a pickle of protocol 2')
        self.assert_row(guest, 'here.get_allocator_backend()', 'native')
        guest.answer('import warnings')
        guest.answer('warnings.simplefilter("error")')
        for name in ('memory_cached', 'max_memory_cached', 'reset_max_memory_allocated', 'reset_max_memory_cached'):
            self.assert_row(guest, f'here.{name}()', ('FutureWarning', name))


class TheViewersWord(Case):
    def test_is_the_same_number_from_inside_and_from_outside(self):
        for backend in BACKENDS:
            guest, looker = self.guest(backend), self.guest('mtia', shimmed=False)
            guest.value('here.set_device(0)')
            guest.value(f'free(alloc({30 * MIB}))')
            guest.value('alloc(700)')
            guest.value('here.reset_peak_memory_stats()')
            shown = next(p for p in self.viewer('ps', '--json')['processes'] if p['pid'] == guest.process.pid)
            device = shown['devices'][0]
            looker.answer(f'p = tidemark.Process({guest.process.pid})')

            self.assertEqual(device['stats'], guest.value('tidemark.accelerator.memory_stats()'))
            self.assertEqual(device['stats'], looker.value('p.memory_stats()'))
            nested = looker.value(f'p.memory_stats_as_nested_dict("{backend}:0")')
            for group in ('cache', 'held', 'lifetime_peak'):
                self.assertEqual(device[group], nested[group])
            if backend == 'mtia':
                self.assertEqual(device['dram'], guest.value('here.memory_stats()["dram"]'))
            self.assertEqual(shown['id'], looker.value('p.id'))


class AnotherProcess(Case):
    def test_is_read_and_asked(self):
        guest, looker = self.guest('mtia', TIDEMARK_LABEL='train'), self.guest('mtia', shimmed=False)
        pointer = guest.value(f'alloc({4 * MIB})')
        guest.value(f'free(alloc({8 * MIB}))')
        for target in ('"train"', str(guest.process.pid), f'"{guest.process.pid}"'):
            self.assert_row(looker, f'tidemark.Process({target}).label', 'train')
        looker.answer('p = tidemark.Process("train")')
        for form in ('', 'None', '0', '"mtia"', '"mtia:0"', 'tidemark.device("mtia:0")'):
            self.assert_row(looker, f'p.memory_allocated({form})', 4 * MIB)
            self.assert_row(looker, f'p.max_memory_allocated({form})', 12 * MIB)
        self.assert_row(looker, 'p.state', 'live')
        self.assert_row(looker, 'p.pid', guest.process.pid)
        self.assert_row(looker, 'p.devices', ['mtia:0'])
        self.assert_row(looker, 'p.memory_allocated("cuda:0")', ('InvalidDevice', 'it has mtia:0'))
        self.assert_row(looker, 'p.memory_allocated("x")', ('ValueError', 'allowed'))
        self.assert_row(looker, 'p.reset_peak_memory_stats()', None)
        self.assert_row(looker, 'p.max_memory_allocated()', 4 * MIB)
        self.assert_row(looker, f'p.set_memory_limit({64 * MIB})', None)
        self.assert_row(looker, 'p.memory_limit()', 64 * MIB)
        self.assert_row(looker, 'p.set_memory_limit(0)', ('ValueError', 'refuse everything'))
        self.assert_row(looker, 'p.set_memory_limit(None)', None)
        self.assert_row(looker, 'p.memory_limit()', None)
        self.assert_row(looker, 'p.get_memory_info()', ('TidemarkError', 'has not asked its driver'))
        self.assert_row(looker, f'p.set_memory_limit({1 << 64})', ('ValueError', f'size {1 << 64}; allowed'))
        self.assert_row(looker, 'p.record_memory_history("all", max_entries=-1)', ('ValueError', 'max_entries -1; allowed'))
        self.assert_row(looker, 'p.record_memory_history("state", "none")', None)
        snapshot = looker.value('p.snapshot()')
        self.assertEqual(4 * MIB, snapshot['segments'][0]['allocated_size'])
        self.assert_row(looker, f'p.export_memory_history("{self.directory}/m.txt")', ('ValueError', '.pickle'))
        self.assert_row(looker, 'p.record_memory_history(None)', None)
        self.assertIn('OOMs: 0', looker.value('p.memory_summary()'))
        guest.value(f'free({pointer})')
        self.assert_row(looker, 'p.empty_cache()', None)
        self.assert_row(looker, 'p.memory_reserved()', 0)

    def test_in_a_container_is_reached_by_root(self):
        inside = ['unshare', '-m', '-p', '-f', '--kill-child', '--mount-proc', 'sh', '-c',
                  f'mount -t tmpfs container {self.directory} && exec "$@"', 'sh']
        if os.geteuid() != 0 or subprocess.run([*inside, 'true'], capture_output=True).returncode != 0:
            self.skipTest('this user may not make namespaces')
        guest, looker = self.guest('mtia', inside=inside, TIDEMARK_LABEL='inside'), self.guest('mtia', shimmed=False)
        guest.value(f'free(alloc({4 * MIB}))')
        self.assertEqual([], list(self.directory.iterdir()), 'the test needs a directory that is the container\'s own')
        looker.answer('p = tidemark.Process("inside")')
        self.assert_row(looker, 'p.max_memory_allocated()', 4 * MIB)
        self.assert_row(looker, 'p.reset_peak_memory_stats()', None)
        self.assert_row(looker, 'p.max_memory_allocated()', 0)
        self.assert_row(looker, 'p.state', 'live')

    def test_that_has_ended_or_never_was(self):
        guest, looker = self.guest('mtia'), self.guest('mtia', shimmed=False)
        guest.value('alloc(1000)')
        looker.answer(f'p = tidemark.Process({guest.process.pid})')
        guest.process.stdin.close()
        guest.process.wait(LIMIT_S)
        for call in ('memory_stats()', 'memory_allocated()', 'reset_peak_memory_stats()', 'empty_cache()', 'memory_limit()',
                     'record_memory_history()', 'snapshot()', 'get_memory_info()'):
            self.assert_row(looker, f'p.{call}', ('ProcessGone', 'the process has ended'))
            self.assert_row(looker, f'p.{call}', ('ProcessLookupError', ''))
        self.assert_row(looker, 'p.state', 'exited')
        self.assert_row(looker, 'p.close()', None)
        self.assert_row(looker, 'p.close()', None)
        self.assert_row(looker, 'p.memory_allocated()', ('ValueError', 'closed'))
        self.assert_row(looker, 'tidemark.Process("nobody")', ('NoSuchProcess', "no process 'nobody'"))
        self.assert_row(looker, 'tidemark.Process("a\\0b")', ('ValueError', 'null byte'))


class Observers(Case):
    def test_are_called_with_four_numbers_and_may_ask(self):
        guest = self.guest('mtia', MTIA_SIM_DRAM='256MiB', TIDEMARK_LOG='off')
        guest.answer('seen = []')
        guest.value(f'alloc({100 * MIB})')
        guest.answer('def observe(*numbers): seen.append(numbers + (here.memory_allocated(), len(here.snapshot()["segments"])))')
        self.assert_row(guest, 'here.attach_out_of_memory_observer(observe)', None)

        self.assert_row(guest, f'alloc({1024 * MIB})', -2)

        self.assert_row(guest, 'seen', [(0, 1024 * MIB, 256 * MIB, 156 * MIB, 100 * MIB, 1)])

    def test_that_raise_harm_nobody(self):
        guest = self.guest('mtia', MTIA_SIM_DRAM='256MiB', TIDEMARK_LOG='off')
        guest.answer('seen = []')
        guest.answer('def broken(*numbers): raise KeyError("mine")')
        guest.value('here.attach_out_of_memory_observer(broken)')
        guest.value('here.attach_out_of_memory_observer(lambda *numbers: seen.append(1))')

        self.assert_row(guest, f'alloc({1024 * MIB})', -2)

        self.assert_row(guest, 'seen', [1])

    def test_are_not_called_once_the_interpreter_has_ended(self):
        script = ('import atexit, ctypes, tidemark\n'
                  'driver, pointer = ctypes.CDLL("libmtia.so.1"), ctypes.c_void_p()\n'
                  'def fail(): print("code", driver.mtiaMalloc(ctypes.byref(pointer), ctypes.c_size_t(1 << 40)))\n'
                  'atexit.register(fail)\n'  # behind ours, which was registered later
                  'driver.mtiaMalloc(ctypes.byref(pointer), ctypes.c_size_t(1000))\n'
                  'tidemark.mtia.attach_out_of_memory_observer(lambda *numbers: print("observed"))\n'
                  'fail()\n')
        done = subprocess.run([sys.executable, '-c', script], env=environment(self.directory, True, TIDEMARK_LOG='off'),
                              capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(('observed\ncode 2\ncode 2\n', '', 0), (done.stdout, done.stderr, done.returncode))


class TheGuide(Case):
    WANTED = ('before: {} False\ntwo tensors: 8388608 8388608\none freed: 4194304 8388608\nreset: 4194304 4194304\n'
              'empty: 0 0\nother device: 2097152\nand the first: 0\n')

    def test_runs_with_torch_replaced_by_tidemark(self):
        script = self.directory / 'guide_tidemark.py'
        with script.open('w') as to:
            subprocess.run(['sed', 's/torch/tidemark/', HERE / 'guide_torch.py'], stdout=to, check=True)
        done = subprocess.run([sys.executable, script], env=environment(self.directory, True), capture_output=True,
                              text=True, timeout=LIMIT_S)
        self.assertEqual((self.WANTED, '', 0), (done.stdout, done.stderr, done.returncode))


class TheProfiler(Case):
    def test_writes_what_happened_between_start_and_export(self):
        guest = self.guest('mtia')
        guest.value('alloc(1000)')
        guest.answer('profiler = here.MemoryProfiler()')
        self.assert_row(guest, 'tidemark.mtia.memory.MemoryProfiler is here.MemoryProfiler', True)
        self.assert_row(guest, 'profiler.start()', None)
        guest.value(f'free(alloc({4 * MIB}))')
        self.assert_row(guest, f'profiler.export_memory_history("{self.directory}/memory.json")', None)
        self.assert_row(guest, 'profiler.stop()', None)

        document = json.loads((self.directory / 'memory.json').read_text())
        self.assertEqual(['segment_alloc', 'alloc', 'free_requested', 'free_completed'],
                         [event['action'] for event in document['device_traces'][0]])
        self.assertIsNone(next(iter(self.viewer('ps', '--json')['processes']))['recording'])


class ThePackage(Case):
    def test_installs_from_the_tree(self):
        copy = self.directory / 'source'
        shutil.copytree(SOURCE / 'client/python', copy, ignore=shutil.ignore_patterns('__pycache__'))
        target = self.directory / 'site'
        if subprocess.run([sys.executable, '-c', 'import pip'], capture_output=True).returncode == 0:
            subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--no-index', '--target', target, copy],
                           check=True, capture_output=True, timeout=LIMIT_S)
        else:  # a wheel is an archive of what it installs
            subprocess.run([sys.executable, '-c', 'import build_backend; build_backend.build_wheel(".")'], cwd=copy, check=True)
            shutil.unpack_archive(next(copy.glob('*.whl')), target, 'zip')
        asked = 'import tidemark; print(tidemark.__file__, tidemark.is_loaded(), tidemark.mtia.memory.memory_stats())'
        done = subprocess.run([sys.executable, '-c', asked], env=environment(self.directory, False, PYTHONPATH=str(target)),
                              capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(f'{target}/tidemark/__init__.py False {{}}\n', done.stdout, done.stderr)
        self.assertTrue((target / 'tidemark/py.typed').is_file())

    def test_says_where_the_library_is_looked_for(self):
        alone = self.directory / 'site'
        shutil.copytree(SOURCE / 'client/python/tidemark', alone / 'tidemark')
        settings = environment(self.directory, False, PYTHONPATH=str(alone), LD_LIBRARY_PATH='', PATH='/usr/bin:/bin')
        done = subprocess.run([sys.executable, '-c', 'import tidemark; tidemark.is_loaded()'], env=settings,
                              capture_output=True, text=True, timeout=LIMIT_S)
        self.assertRegex(done.stderr.splitlines()[-1],
                         r'^OSError: libtidemark-client\.so\.1 was not found: put its directory into LD_LIBRARY_PATH')

    def test_has_every_function_of_the_header_with_its_arguments(self):
        header = (SOURCE / 'client/include/tidemark/tidemark.h').read_text()
        declared = {name: len(arguments.split(',')) if arguments.strip() != 'void' else 0 for name, arguments in
                    re.findall(r'^TIDEMARK_API [^;(]*?\b(tidemark_\w+)\(([^)]*)\)', header, re.MULTILINE)}
        sys.path.insert(0, str(SOURCE / 'client/python'))
        from tidemark import _library
        self.assertEqual(declared, {name: len(arguments) for name, (_, arguments) in _library._TYPES.items()})
        structure = re.search(r'typedef struct tidemark_device_stats \{(.*?)\} tidemark_device_stats;', header, re.DOTALL)[1]
        self.assertEqual(re.findall(r'^\s*(?:size_t|tidemark_stat\w*|int64_t) (\w+);', structure, re.MULTILINE),
                         [name for name, _ in _library.DeviceStats._fields_])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
