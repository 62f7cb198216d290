"""What the client library may show and need, and that its header is C of any age.

    gate_test.py LIBRARY SOURCE_ROOT CC CXX
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / 'tests/gates'))
from elf import Elf  # noqa: E402

LIBRARY, CC, CXX = Elf(sys.argv[1]), sys.argv[3], sys.argv[4]
HEADER = SOURCE / 'client/include/tidemark/tidemark.h'
NODES = {'TIDEMARK_CLIENT_1', 'TIDEMARK_CLIENT_1.1'}
GLIBC_FLOOR = (2, 35)


class TheLibrary(unittest.TestCase):
    def test_shows_the_functions_of_its_header_and_nothing_else(self):
        declared = set(re.findall(r'^TIDEMARK_API [^;(]*?\b(tidemark_\w+)\(', HEADER.read_text(encoding='utf-8'), re.MULTILINE))
        self.assertGreater(len(declared), 30)

        self.assertEqual(declared, LIBRARY.exported - NODES)

    def test_gives_each_the_version_of_the_abi(self):
        for symbol in LIBRARY.dynamic_symbols:
            if symbol.defined and symbol.binding != 'LOCAL' and symbol.name not in NODES:
                self.assertEqual('FUNC', symbol.kind, symbol.name)
                self.assertIn(symbol.version, NODES, symbol.name)
        self.assertEqual(['Library soname: [libtidemark-client.so.1]'],
                         [value for tag, value in LIBRARY.dynamic if tag == 'SONAME'])

    def test_needs_the_c_library_and_the_loader(self):
        self.assertLessEqual(LIBRARY.needed, {'libc.so.6', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'})
        self.assertLessEqual(LIBRARY.glibc_floor, GLIBC_FLOOR)
        self.assertEqual(set(), {'RPATH', 'RUNPATH'} & LIBRARY.tags)


class TheHeader(unittest.TestCase):
    def test_is_c_and_cplusplus_of_any_age(self):
        text = '#include <tidemark/tidemark.h>\nint main(void) { return tidemark_is_loaded(); }\n'
        for compiler, language, standards in ((CC, 'c', ('c99', 'c11')), (CXX, 'c++', ('c++11', 'c++20'))):
            for standard in standards:
                with self.subTest(standard):
                    done = subprocess.run([compiler, '-x', language, f'-std={standard}', '-Wall', '-Wextra', '-pedantic', '-Werror',
                                           '-fsyntax-only', '-I', SOURCE / 'client/include', '-'], input=text, text=True,
                                          capture_output=True)
                    self.assertEqual((0, ''), (done.returncode, done.stderr))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
