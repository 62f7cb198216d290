"""Ten thousand scrapes while processes come and go: the exporter neither grows nor keeps anything of them.

    endurance_test.py BUILD_DIRECTORY

TIDEMARK_SCRAPES says how many.
"""

import http.client
import os
import sys
import unittest
from pathlib import Path

from fleet import MIB, World, wait_until

BUILD = sys.argv[1]
SCRAPES = int(os.environ.get('TIDEMARK_SCRAPES', '10000'))
# A process for every so many scrapes; the first tenth of them fills what may be filled.
SCRAPES_OF_PROCESS = 50
MOST_GROWTH_KB = 1024


class Endurance(unittest.TestCase):
    def setUp(self):
        self.world = World(self, BUILD)
        self.exporter = self.world.export()
        self.connection = http.client.HTTPConnection('127.0.0.1', self.exporter.port, timeout=60)
        self.addCleanup(self.connection.close)

    def scrape(self, number):
        path, accept = (('/metrics', 'text/plain'), ('/metrics', 'application/openmetrics-text'),
                        ('/live.json', '*/*'), ('/ps.json', '*/*'))[number % 4]
        self.connection.request('GET', path, headers={'Accept': accept})
        answer = self.connection.getresponse()
        self.assertEqual(200, answer.status)
        answer.read()

    def memory_kb(self):
        status = Path(f'/proc/{self.exporter.pid}/status').read_text(encoding='utf-8')
        return int(status.split('VmRSS:')[1].split()[0])

    def open_segments(self):
        """How many descriptors lead to files of programs."""
        found = 0
        for entry in Path(f'/proc/{self.exporter.pid}/fd').iterdir():
            try:
                found += str(self.world.segments) in os.readlink(entry)
            except FileNotFoundError:
                pass
        return found

    def come_and_go(self, number):
        guest = self.world.guest(TIDEMARK_KEEP='none', TIDEMARK_LABEL=f'job {number % 7}')
        guest.free(guest.alloc(MIB))
        return guest

    def test_does_not_grow(self):
        before = None
        staying = self.come_and_go(0)
        running = []
        for number in range(SCRAPES):
            self.scrape(number)
            if number % SCRAPES_OF_PROCESS == 0:
                running.append(self.come_and_go(number))
                if len(running) > 3:
                    guest = running.pop(0)
                    guest.exit() if number % 100 else guest.kill()
                    guest.close()
            if number % 1000 == 999:  # what killed ones leave is there to be seen
                self.assertEqual(0, self.world.tidemark('gc', '--older-than', '0').returncode)
            if number == SCRAPES // 10:
                before = self.memory_kb()
        for guest in running:
            guest.exit()
        after = self.memory_kb()
        self.assertLessEqual(after, before + MOST_GROWTH_KB, f'kB, of {before}')
        print(f'{SCRAPES} scrapes, {SCRAPES // SCRAPES_OF_PROCESS} processes: {before} kB after a tenth, {after} kB at the end')

        self.assertEqual(0, self.world.tidemark('gc', '--older-than', '0').returncode)
        self.exporter.wait_for('tidemark_processes', 1)
        self.exporter.wait_for('tidemark_exits_total', SCRAPES // SCRAPES_OF_PROCESS)
        # The reader and both control slots of the one that stays.
        wait_until('that nothing is open any more', lambda: self.open_segments() <= 3)
        staying.exit()


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
