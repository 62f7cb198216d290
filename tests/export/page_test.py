"""The live page shows the numbers of `ps --json`: drawn by node, and in a real browser where there is one.

    page_test.py BUILD_DIRECTORY
"""

import html
import json
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from fleet import MIB, World, wait_until

BUILD = sys.argv[1]
ROW = re.compile(r'<tr data-id="(\w+)" data-device="([^"]*)"[^>]*>(.*?)</tr>', re.S)
BYTES = re.compile(r'<td(?: data-bytes="(\d+)")?[^>]*>(.*?)</td>', re.S)


def rows_of(page):
    """By id and device: allocated, peak, reserved, held and limit, and the words of all cells."""
    found = {}
    for name, device, cells in ROW.findall(page):
        values = BYTES.findall(cells)
        found[name, device] = ([int(exact) if exact else None for exact, _ in values[5:10]],
                               [html.unescape(words) for _, words in values])
    return found


class LivePage(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.world = World(self, BUILD)
        self.guests = [self.world.guest(TIDEMARK_LABEL='<b>"eval" & more</b>', RANK='1', TIDEMARK_LIMIT='1GiB'),
                       self.world.guest(RANK='0')]
        for mib, guest in zip((2, 6), self.guests):
            guest.free(guest.alloc(8 * MIB))
            guest.alloc(mib * MIB)
        self.exporter = self.world.export()

    def check(self, page):
        wanted = {}
        ps = self.world.ps()
        for process in ps['processes']:
            for device in process['devices']:
                stats = device['stats']
                wanted[process['id'], device['device']] = [
                    stats['allocated_bytes.all.current'], stats['allocated_bytes.all.peak'],
                    stats['reserved_bytes.all.current'], device['held']['current_bytes'], device['limit_bytes']]
        shown = rows_of(page)
        self.assertEqual(wanted, {key: numbers for key, (numbers, _) in shown.items()})
        labelled = shown[ps['processes'][0]['id'], 'mtia:0'][1]
        self.assertEqual([str(self.guests[0].pid), '1', 'mtia:0', 'live', '2.000 MiB'], labelled[1:6])
        self.assertEqual('<b>"eval" & more</b>: guest_mtia', labelled[-1])
        self.assertNotIn('<b>"eval"', page)
        for device in ps['devices']:
            self.assertIn(f'data-bytes="{device["held_bytes"]}"', page)
            self.assertIn(device['uuid'], page)
        self.assertIn(ps['host'], page)

    def draw(self, document):
        page = self.world.place / 'page.html'
        page.write_text(self.exporter.page('/'), encoding='utf-8')
        return subprocess.run(['node', Path(__file__).with_name('draw_live.js'), page, document], capture_output=True,
                              text=True, check=True).stdout

    @unittest.skipUnless(shutil.which('node'), 'no node that could run the page\'s script')
    def test_shows_the_numbers(self):
        document = self.world.place / 'live.json'
        document.write_text(self.exporter.page('/live.json'), encoding='utf-8')

        self.check(self.draw(document))

    @unittest.skipUnless(shutil.which('node'), 'no node that could run the page\'s script')
    def test_says_that_the_exporter_is_gone(self):
        self.assertIn('no answer from the exporter', self.draw('-'))

    def test_has_the_same_document_as_ps(self):
        mine, theirs = self.world.ps(), json.loads(self.exporter.page('/ps.json'))

        for document in (mine, theirs):
            document.pop('time')
        self.assertEqual(mine, theirs)

    @unittest.skipUnless(shutil.which('chromium'), 'no chromium')
    def test_shows_the_numbers_in_a_browser(self):
        wait_until('a timeline', lambda: self.exporter.page('/live.json').count('.0,') > 2)

        shown = subprocess.run(
            ['chromium', '--headless', '--no-sandbox', '--disable-gpu', '--dump-dom', '--virtual-time-budget=3000',
             f'--user-data-dir={self.world.place}/profile', f'http://{self.exporter.address}/'],
            capture_output=True, text=True, check=False, timeout=120)

        self.assertIn('<tr data-id', shown.stdout, shown.stderr[-2000:])
        self.check(shown.stdout)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
