"""Compiles and runs the programs of docs/api.md under the library, and compares what they print with the document.

    api_test.py API_DOCUMENT BUILD_DIRECTORY SOURCE_ROOT CC CXX

A block ```c, ```cpp or ```python is a whole program; the block ```output behind it is all that it prints.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DOCUMENT, BUILD, SOURCE = Path(sys.argv[1]), Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
COMPILERS = {'c': [sys.argv[4], '-std=c11'], 'cpp': [sys.argv[5], '-std=c++17']}
BLOCK = re.compile(r'^```(c|cpp|python)\n(.*?)^```\n```output\n(.*?)^```\n', re.MULTILINE | re.DOTALL)
LIMIT_S = 120


class TheDocument(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = Path(tempfile.mkdtemp(prefix='tidemark-test.'))
        self.addCleanup(shutil.rmtree, self.directory, True)

    def program(self, language, text):
        if language == 'python':
            return [sys.executable, '-c', text]
        source, program = self.directory / f'program.{language}', self.directory / f'program_{language}'
        source.write_text(text)
        subprocess.run([*COMPILERS[language], '-Wall', '-Werror', source, '-I', SOURCE / 'client/include', '-I',
                        SOURCE / 'simulator/mtia/include', '-L', BUILD / 'lib', '-L', BUILD / 'simulator', '-ltidemark-client', '-lmtia',
                        f'-Wl,-rpath,{BUILD}/lib', '-o', program], check=True, timeout=LIMIT_S)
        return [program]

    def test_has_a_program_in_each_language(self):
        languages = [found[1] for found in BLOCK.finditer(DOCUMENT.read_text())]
        self.assertEqual({'c', 'cpp', 'python'}, set(languages))
        self.assertEqual(len(re.findall(r'^```output', DOCUMENT.read_text(), re.MULTILINE)), len(languages))

    def test_shows_what_its_programs_print(self):
        environment = {'PATH': f'{BUILD}/bin:/usr/local/bin:/usr/bin:/bin', 'HOME': str(self.directory), 'LANG': 'C.UTF-8',
                       'TIDEMARK_DIR': str(self.directory), 'TIDEMARK_LOG': 'error', 'TIDEMARK_KEEP': 'none',
                       'PYTHONPATH': str(SOURCE / 'client/python'), 'PYTHONDONTWRITEBYTECODE': '1'}
        for language, text, wanted in (found.groups() for found in BLOCK.finditer(DOCUMENT.read_text())):
            with self.subTest(language=language, program=text[:60]):
                command = ['tidemark', 'run', '-q', '--simulate', 'mtia', '--', *self.program(language, text)]
                done = subprocess.run(command, cwd=self.directory, env=environment, capture_output=True, text=True, timeout=LIMIT_S)
                self.assertEqual((wanted, '', 0), (done.stdout, done.stderr, done.returncode))

    def test_names_every_function_of_the_header(self):
        header = (SOURCE / 'client/include/tidemark/tidemark.h').read_text()
        text = DOCUMENT.read_text()
        for name in re.findall(r'^TIDEMARK_API [^;(]*?\btidemark_(\w+)\(', header, re.MULTILINE):
            if name != 'abi':
                self.assertTrue(f'tidemark_{name}' in text or f'`_{name.removeprefix("process_")}`' in text, name)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
