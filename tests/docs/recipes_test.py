"""Runs the shell blocks of docs/recipes.md as a user would, and compares what they print with the document.

    recipes_test.py RECIPES BUILD_DIRECTORY

A block ```sh is run, each in a directory of its own, which looks like the repository after a build. A block ```output behind it holds
lines that have to appear in what was printed, in that order; numbers, and how many blanks part two words, may be others. A comment
`<!-- processes: N -->` before a block says how many processes its `&` start: commands that look at them wait until they are there.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RECIPES, BUILD = Path(sys.argv[1]), Path(sys.argv[2]).resolve()
LIMIT_S = 120

BLOCK = re.compile(r'(?:^<!-- processes: (\d+) -->\n)?^```(\w*)\n(.*?)^```\n(?:^```output\n(.*?)^```\n)?', re.M | re.S)
KINDS = {'sh', 'text'}  # and `output`, behind `sh`

# A user types the second command later than the first. Here it waits until what it looks at is there.
TIDEMARK = r'''#!/bin/bash
if [[ $1 != run && $1 != env && $1 != gc && "$*" != doctor* ]]; then
  until (($(find "$TIDEMARK_DIR" -name 'tidemark.*' ! -name '*.*.*.*.*' | wc -l) >= PROCESSES)); do sleep 0.05; done
fi
exec "$BUILD/bin/tidemark" "$@"
'''


def blocks():
    for found in BLOCK.finditer(RECIPES.read_text()):
        processes, kind, commands, output = found.groups()
        yield RECIPES.read_text()[:found.start()].count('\n') + 1, kind, commands, output, int(processes or 0)


def in_common(line):
    """What two runs have in common: no numbers, ids, sizes, paths; single blanks."""
    line = re.sub(r'/[\w./-]+/(?=[\w.]+)', '/', line)
    line = re.sub(r'\b[0-9a-f]{8,}\b', 'N', line)
    line = re.sub(r'\b(B|KiB|MiB|GiB)\b', 'U', line)
    line = re.sub(r'\b(ns|us|ms|s)\b', 'T', line)
    line = re.sub(r'\d[\d,.]*', 'N', line)
    return ' '.join(line.split())


class Recipes(unittest.TestCase):
    maxDiff = None

    def run_block(self, commands, processes):
        place = Path(tempfile.mkdtemp(prefix='tidemark-recipe.'))
        self.addCleanup(shutil.rmtree, place, True)
        (place / 'bin').mkdir()
        (place / 'segments.d').mkdir()
        (place / 'home/build').mkdir(parents=True)
        (place / 'home/build/release').symlink_to(BUILD)
        (place / 'bin/tidemark').write_text(TIDEMARK)
        (place / 'bin/tidemark').chmod(0o755)
        environment = {'PATH': f'{place}/bin:/usr/local/bin:/usr/bin:/bin', 'HOME': str(place / 'home'), 'LANG': 'C',
                       'BUILD': str(BUILD), 'TIDEMARK_DIR': str(place / 'segments.d'), 'PROCESSES': str(processes)}
        printed = place / 'printed'
        with printed.open('w') as to:
            # A group of its own, so that what a recipe leaves running ends with it.
            child = subprocess.Popen(['bash', '-euo', 'pipefail', '-c', commands], cwd=place / 'home', env=environment,
                                     stdin=subprocess.DEVNULL, stdout=to, stderr=to, start_new_session=True)
        try:
            return child.wait(LIMIT_S), printed.read_text()
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()

    def test_each_block_has_a_kind(self):
        found = list(blocks())
        self.assertGreater(len([kind for _, kind, *_ in found if kind == 'sh']), 8)
        for line, kind, _, output, _ in found:
            self.assertIn(kind, KINDS, f'{RECIPES}:{line}')
            self.assertEqual(kind == 'sh', output is not None, f'{RECIPES}:{line}: every sh has an output, nothing else')

    def test_commands_do_what_the_document_says(self):
        for line, kind, commands, output, processes in blocks():
            if kind != 'sh':
                continue
            with self.subTest(line=line):
                code, printed = self.run_block(commands, processes)
                self.assertEqual(code, 0, printed)
                rest = iter([in_common(one) for one in printed.splitlines()])
                for wanted in output.splitlines():
                    # Takes lines away up to the one that is wanted.
                    self.assertTrue(any(one.startswith(in_common(wanted)) for one in rest),
                                    f'{wanted}\n--- printed:\n{printed}')

    def test_every_recipe_is_in_the_list(self):
        text = RECIPES.read_text()
        titles = re.findall(r'^## (.+)$', text, re.M)
        self.assertEqual(re.findall(r'^\* \[(.+)\]\(#', text, re.M), titles)
        anchors = [re.sub(r'[^\w -]', '', title).lower().replace(' ', '-') for title in titles]
        self.assertEqual(re.findall(r'^\* \[.+\]\(#(.+)\)', text, re.M), anchors)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
