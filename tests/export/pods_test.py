"""`tidemark export` and programs in namespaces of their own, as in pods, that share a directory.

    pods_test.py BUILD_DIRECTORY
"""

import os
import shutil
import subprocess
import sys
import unittest

from fleet import MIB, World, samples, wait_until

BUILD = sys.argv[1]
WINDOW = 'tidemark_allocated_window_peak_bytes'


class Pods(unittest.TestCase):
    """Two programs in mount and pid namespaces of their own."""

    UNSHARE = ('unshare', '-m', '-p', '-f', '--kill-child', '--mount-proc')

    def setUp(self):
        self.world = World(self, BUILD)
        if subprocess.run([*self.UNSHARE, 'true'], capture_output=True, check=False).returncode != 0:
            self.skipTest('this machine lets nobody make namespaces')
        for mib in (2, 4):
            self.world.guest(before=self.UNSHARE).alloc(mib * MIB)

    def check(self, exporter):
        allocated = {has['id']: value for name, has, value in samples(exporter.page())
                     if name == 'tidemark_allocated_bytes'}
        processes = [has for name, has, _ in samples(exporter.page()) if name == 'tidemark_process_info']
        self.assertEqual([2 * MIB, 4 * MIB], sorted(allocated.values()))
        self.assertEqual(['1', '1'], [has['ns_pid'] for has in processes])
        self.assertEqual(2, len({has['id'] for has in processes}))
        self.assertEqual(2, exporter.value('tidemark_device_clients'))
        wait_until('windows', lambda: exporter.value(WINDOW) == 6 * MIB)
        return processes

    def test_are_seen_and_told_apart_from_outside(self):
        self.check(self.world.export('--per-process'))

    def test_are_seen_from_a_container_that_knows_no_pid_of_theirs(self):
        processes = self.check(self.world.export('--per-process', before=self.UNSHARE))

        self.assertEqual([None, None], [has.get('pid') for has in processes])

    @unittest.skipIf(os.geteuid() != 0 or not shutil.which('setpriv'), 'needs root and setpriv')
    def test_of_other_users_are_seen_with_the_rights_of_the_manifest(self):
        user = ('setpriv', '--reuid', '1000', '--regid', '1000', '--clear-groups')
        rights = ('setpriv', '--bounding-set', '-all,+dac_override,+fowner')
        self.world.guest(before=(*self.UNSHARE, *user), TIDEMARK_LABEL='user').alloc(8 * MIB)
        exporter = self.world.export(before=(*self.UNSHARE, *rights))

        self.assertEqual(8 * MIB, exporter.value('tidemark_allocated_bytes', label='user'))
        wait_until('its window', lambda: exporter.value(WINDOW, label='user') == 8 * MIB)
        self.assertEqual(0, exporter.value('tidemark_processes', state='unreadable'))

    def test_end_without_a_pid(self):
        exporter = self.world.export(before=self.UNSHARE)
        exporter.wait_for('tidemark_group_processes', 2)
        guest = self.world.guest(before=self.UNSHARE)
        guest.alloc(MIB)
        exporter.wait_for('tidemark_group_processes', 3)
        guest.exit()

        exporter.wait_for('tidemark_exits_total', 1, how='clean')
        exporter.wait_for('tidemark_group_processes', 2)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
