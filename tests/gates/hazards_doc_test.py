"""docs/cuda.md names tests and programs that are there.

    hazards_doc_test.py SOURCE
"""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv[1])
HEADING = '## What made others crash or count wrongly'
# With or without the `Test` that some suites end in.
TEST = re.compile(r'\bTEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)')


def names():
    """The words in backquotes of the section's table."""
    section = (ROOT / 'docs/cuda.md').read_text(encoding='utf-8').split(HEADING, 1)[1].split('\n## ', 1)[0]
    rows = [line for line in section.splitlines() if line.startswith('| ')]
    shown = [line.split(' | ', 1)[1] for line in rows[1:]]
    return {name for cell in shown for name in re.findall(r'`([^`]+)`', cell)}


class TheListOfHazards(unittest.TestCase):
    def test_names_tests_and_programs_that_exist(self):
        sources = [path.read_text(encoding='utf-8') for path in (ROOT / 'tests').rglob('*_test.cpp')]
        tests = {(re.sub(r'Test$', '', suite), name) for text in sources for suite, name in TEST.findall(text)}
        programs = {path.stem for path in (ROOT / 'tests/programs').iterdir()}

        unknown = []
        for name in names():
            suite, dot, test = name.partition('.')
            known = (re.sub(r'Test$', '', suite), test) in tests if dot else name in programs
            if not known:
                unknown.append(name)

        self.assertEqual([], sorted(unknown))

    def test_is_a_list(self):
        self.assertGreater(len(names()), 40)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
