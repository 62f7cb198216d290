"""What the release library must be before anybody may preload it into everything.

    gates_test.py LIBRARY DOOR SOURCE_ROOT CUDA
LIBRARY: libtidemark.so; DOOR: shim/hook as a library of its own, compiled with -O0; CUDA: ON or OFF.
"""

import re
import sys
import unittest
from pathlib import Path

from elf import Elf

LIBRARY, DOOR = Elf(sys.argv[1]), Elf(sys.argv[2])
SOURCE_ROOT, WITH_CUDA = Path(sys.argv[3]), sys.argv[4] == 'ON'

# glibc of Debian 12 is 2.36; everything from 2.35 on can load us.
GLIBC_FLOOR = (2, 35)

# Not in the lists of hooked names: the door, and the symbols by which the client library and a program's NVTX find us.
OTHER_EXPORTS = {'dlsym', 'tidemark_shim_v1', 'InitializeInjectionNvtx2'}

# Come with the C run-time, libstdc++ (its pool for exceptions) and Boost (its page size): none of ours.
TOLERATED_AT_LOAD = [re.compile(pattern) for pattern in (
    r'^frame_dummy$',
    r'^_GLOBAL__sub_I_(eh_alloc\.cc|_ZN9__gnu_cxx9__freeresEv)$',
)]
BOOST_PAGE_SIZE = 'page_size_holder'


def hooked_names():
    """X(name, ...) of every list TIDEMARK_..._HOOKS in the room that knows which functions are hooked."""
    names = set()
    for header in (SOURCE_ROOT / 'shim').rglob('*.hpp'):
        text = header.read_text(encoding='utf-8')
        for macro, body in re.findall(r'#define (TIDEMARK_\w+_HOOKS)\(X\)((?:[^\n]*\\\n)*[^\n]*)', text):
            if WITH_CUDA or 'CUDA' not in macro:
                names |= set(re.findall(r'\bX\((\w+)', body))
    return names


class TheLibrary(unittest.TestCase):
    def test_exports_the_hooked_names_and_nothing_else(self):
        hooked = hooked_names()
        self.assertGreater(len(hooked), 4)

        self.assertEqual(sorted(hooked | OTHER_EXPORTS), sorted(LIBRARY.exported))

    def test_notes_of_every_hooked_function_that_it_was_called(self):
        entry = '\n'.join(file.read_text(encoding='utf-8') for file in (SOURCE_ROOT / 'shim/entry').glob('*.cpp'))
        noted = set(re.findall(r'\buses::(\w+)\.entered\(\)', entry)) | set(re.findall(r'IN_CALLERS_RUNTIME\((\w+)', entry))

        self.assertEqual(set(), hooked_names() - noted)

    def test_exports_functions_without_a_version(self):
        for symbol in LIBRARY.dynamic_symbols:
            if symbol.defined and symbol.binding != 'LOCAL':
                with self.subTest(symbol.name):
                    self.assertEqual(('FUNC', ''), (symbol.kind, symbol.version))
                    self.assertIn(symbol.binding, ('GLOBAL', 'WEAK'))
        self.assertNotIn('VERDEF', LIBRARY.tags, 'a version node of ours would disable every hook on a versioned symbol')

    def test_needs_the_c_library_and_the_loader(self):
        self.assertLessEqual(LIBRARY.needed, {'libc.so.6', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'})

    def test_needs_no_younger_glibc_than_debian_12_has(self):
        self.assertLessEqual(LIBRARY.glibc_floor, GLIBC_FLOOR)

    def test_leaves_no_name_open(self):
        self.assertEqual([], [symbol.name for symbol in LIBRARY.imported
                              if symbol.binding != 'WEAK' and not symbol.version.startswith('GLIBC_')])

    def test_does_nothing_at_load_that_is_ours(self):
        for function in LIBRARY.functions_in('.init_array'):
            with self.subTest(function):
                self.assertTrue(self.is_tolerated(function), 'a constructor of ours runs in every process')

    def is_tolerated(self, function):
        if any(pattern.match(function) for pattern in TOLERATED_AT_LOAD):
            return True
        # Named after the file that includes Boost's header: what it touches tells whose it is.
        touched = [line.split('<', 1)[1] for line in LIBRARY.instructions(function) if '# ' in line and '<' in line]
        return bool(touched) and all(BOOST_PAGE_SIZE in place or 'sysconf' in place for place in touched)

    def test_does_nothing_at_unload(self):
        self.assertEqual(['__do_global_dtors_aux'], LIBRARY.functions_in('.fini_array'))

    def test_is_bound_at_once_and_never_unloaded(self):
        self.assertLessEqual({'NOW', 'NODELETE'}, LIBRARY.flags)
        self.assertNotIn('TEXTREL', LIBRARY.tags)

    def test_has_little_thread_local_memory_and_reaches_it_directly(self):
        self.assertLess(LIBRARY.tls_bytes, 1024)
        # libstdc++ finds a thread's exceptions so; nothing on our paths asks for them.
        self.assertLessEqual(LIBRARY.callers_of('__tls_get_addr'), {'__cxa_get_globals', '__cxa_get_globals_fast'})

    def test_carries_no_path_to_search(self):
        self.assertEqual(set(), {'RPATH', 'RUNPATH'} & LIBRARY.tags)


class TheDoor(unittest.TestCase):
    """dlsym(RTLD_NEXT, ...) looks at its return address: the real one must see our caller's, at any optimisation."""

    def test_leaves_by_a_jump(self):
        for library in (LIBRARY, DOOR):
            with self.subTest(library.path):
                instructions = library.instructions('dlsym')

                self.assertTrue(instructions)
                self.assertRegex(instructions[-1], r'^(notrack )?(jmp \*%r\w+|br x\d+)')
                self.assertFalse([line for line in instructions if re.match(r'^(repz )?ret', line)])

    def test_would_be_found_to_return_if_it_did(self):
        self.assertTrue([line for line in DOOR.instructions('door_that_returns') if line.startswith('ret')])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
