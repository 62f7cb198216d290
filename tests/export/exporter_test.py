"""`tidemark export` with programs behind it: what Prometheus is told, and that it is told in every situation.

    exporter_test.py BUILD_DIRECTORY
"""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
import unittest

from fleet import MIB, World, samples, wait_until

BUILD = sys.argv[1]
OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
ALLOCATIONS = 'tidemark_allocations_total'
WINDOW = 'tidemark_allocated_window_peak_bytes'


class Exporting(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.world = World(self, BUILD)


class Numbers(Exporting):
    def test_are_those_of_ps(self):
        guest = self.world.guest(TIDEMARK_LABEL='eval', TIDEMARK_LIMIT='256MiB')
        guest.free(guest.alloc(6 * MIB))
        guest.alloc(3 * MIB)
        exporter = self.world.export()
        device = self.world.ps()['processes'][0]['devices'][0]
        stats = device['stats']
        labels = {'backend': 'mtia', 'uuid': device['uuid'], 'command': 'guest_mtia', 'label': 'eval'}

        page = {name: value for name, has, value in samples(exporter.page()) if has == labels}

        wanted = {'tidemark_limit_bytes': device['limit_bytes'], 'tidemark_held_bytes': device['held']['current_bytes'],
                  'tidemark_held_peak_bytes': device['held']['peak_bytes'],
                  'tidemark_allocated_lifetime_peak_bytes': device['lifetime_peak']['allocated_bytes'],
                  'tidemark_live_allocations': stats['allocation.all.current'],
                  'tidemark_segments': stats['segment.all.current'],
                  'tidemark_active_blocks': stats['active.all.current'],
                  'tidemark_inactive_split_blocks': stats['inactive_split.all.current']}
        for family in ('requested', 'allocated', 'active', 'reserved', 'inactive_split'):
            wanted[f'tidemark_{family}_bytes'] = stats[f'{family}_bytes.all.current']
            wanted[f'tidemark_{family}_peak_bytes'] = stats[f'{family}_bytes.all.peak']
        self.assertEqual(wanted, {name: page[name] for name in wanted})
        self.assertEqual(6 * MIB, page['tidemark_allocated_peak_bytes'])

    def test_are_sums_over_processes_and_the_highest_of_peaks(self):
        guests = [self.world.guest() for _ in range(3)]
        for mib, guest in enumerate(guests, 2):
            guest.alloc(mib * MIB)
        guests[2].free(guests[2].alloc(40 * MIB))
        exporter = self.world.export()

        self.assertEqual((2 + 4 + 4) * MIB, exporter.value('tidemark_allocated_bytes'))
        self.assertEqual(44 * MIB, exporter.value('tidemark_allocated_peak_bytes'))
        self.assertEqual(3, exporter.value('tidemark_group_processes', command='guest_mtia'))
        self.assertEqual(3, exporter.value('tidemark_device_clients'))
        self.assertEqual(3, exporter.value('tidemark_processes', state='live'))

    def test_of_other_kinds_are_there_once_a_program_uses_them(self):
        program = self.world.build / 'tests/programs/cuda_kinds'
        if not program.exists():
            self.skipTest('built without CUDA')
        exporter = self.world.export()
        self.world.guest('cuda_driver').alloc(MIB)
        self.assertIsNone(exporter.value('tidemark_kind_bytes'))
        self.world.run([program, 'async', 'managed', 'pinned'])

        wait_until('pinned memory', lambda: exporter.value('tidemark_host_kind_bytes', kind='pinned'))

        self.assertEqual(300 << 10, exporter.value('tidemark_kind_bytes', kind='async'))
        self.assertEqual(3 * MIB, exporter.value('tidemark_kind_bytes', kind='managed'))
        self.assertIsNone(exporter.value('tidemark_kind_bytes', kind='vmm'))
        self.assertEqual(exporter.value('tidemark_reserved_bytes') + (300 << 10), exporter.value('tidemark_held_bytes'))

    def test_of_single_processes_have_their_ids(self):
        one, two = self.world.guest(), self.world.guest()
        one.alloc(2 * MIB)
        two.alloc(4 * MIB)
        exporter = self.world.export('--per-process')

        self.assertEqual(2 * MIB, exporter.value('tidemark_allocated_bytes', pid=str(one.pid)))
        self.assertEqual(4 * MIB, exporter.value('tidemark_allocated_bytes', pid=str(two.pid)))
        self.assertEqual(1, exporter.value('tidemark_process_info', pid=str(one.pid), user=str(os.geteuid())))

    def test_of_ranks_say_which_needs_most(self):
        for rank, mib in enumerate((12, 44, 4)):
            guest = self.world.guest(RANK=str(rank), WORLD_SIZE='3')
            guest.free(guest.alloc(mib * MIB))
        exporter = self.world.export()

        peaks = {has['rank']: value for name, has, value in samples(exporter.page())
                 if name == 'tidemark_member_allocated_peak_bytes'}
        group = json.loads(exporter.page('/live.json'))['groups'][0]

        self.assertEqual({'0': 12 * MIB, '1': 44 * MIB, '2': 4 * MIB}, peaks)
        self.assertEqual({'rank': 1, 'peak_bytes': 44 * MIB}, group['highest_rank'])
        self.assertEqual(40 * MIB, group['spread_bytes'])


class Counters(Exporting):
    def test_outlive_processes_and_do_not_fall_at_resets(self):
        exporter = self.world.export()
        one, two = self.world.guest(), self.world.guest()
        one.alloc(2 * MIB)
        two.alloc(2 * MIB)
        self.assertEqual(0, exporter.value(ALLOCATIONS), 'the first page')
        self.assertEqual(2, exporter.value(ALLOCATIONS))

        self.assertEqual(0, self.world.tidemark('reset-accumulated', str(one.pid)).returncode)
        one.alloc(2 * MIB)
        self.assertEqual(3, exporter.value(ALLOCATIONS))

        two.alloc(4 * MIB)
        two.exit()
        exporter.wait_for('tidemark_exits_total', 1, how='clean')
        self.assertEqual(4, exporter.value(ALLOCATIONS), 'with what it did since the last look')
        self.assertEqual(6 * MIB, exporter.value('tidemark_held_at_exit_bytes_total'))

        one.kill()
        exporter.wait_for('tidemark_exits_total', 1, how='killed')
        self.assertEqual(4, exporter.value(ALLOCATIONS))
        self.assertIsNone(exporter.value('tidemark_allocated_bytes'))

        three = self.world.guest()
        three.alloc(2 * MIB)
        self.assertEqual(5, exporter.value(ALLOCATIONS), 'it restarted')
        self.assertEqual(0, self.world.tidemark('gc', '--older-than', '0').returncode)
        self.assertEqual(5, exporter.value(ALLOCATIONS), 'and the files of the dead are gone')

    def test_of_out_of_memory_outlive_the_program(self):
        exporter = self.world.export()
        guest = self.world.guest(MTIA_SIM_DRAM='64MiB')
        guest.alloc(MIB)
        exporter.wait_for('tidemark_ooms_total', 0)
        self.assertTrue(guest.ask(f'alloc {512 * MIB}').startswith('error'))
        guest.exit()

        exporter.wait_for('tidemark_ooms_total', 1)
        self.assertGreater(exporter.value('tidemark_last_oom_timestamp_seconds'), 1.7e9)
        self.assertEqual(0, exporter.value('tidemark_limit_rejections_total'), 'the device had no more')

    def test_of_refusals_by_the_limit_and_of_frees_that_nobody_knows(self):
        exporter = self.world.export()
        guest = self.world.guest(TIDEMARK_LIMIT='8MiB')
        slot = guest.alloc(2 * MIB)
        exporter.wait_for('tidemark_limit_rejections_total', 0)
        self.assertTrue(guest.ask(f'alloc {16 * MIB}').startswith('error'))
        self.assertNotEqual('0', guest.ask('free-at 4096'))
        guest.free(slot)

        exporter.wait_for('tidemark_limit_rejections_total', 1)
        exporter.wait_for('tidemark_foreign_frees_total', 1)
        guest.exit()
        exporter.wait_for('tidemark_exits_total', 1, how='clean')
        self.assertEqual(1, exporter.value('tidemark_foreign_frees_total'))


class Peaks(Exporting):
    # One of a moment, far below the highest ever: nothing in the counters shows it afterwards.
    def test_between_two_scrapes_are_seen_by_every_scraper(self):
        guest = self.world.guest()
        guest.free(guest.alloc(400 * MIB))
        guest.alloc(2 * MIB)
        # What a process reached that has just begun is of this minute.
        began = self.world.ps()['processes'][0]['started']
        wait_until('that it began a while ago', lambda: time.time() > began + 3)
        exporter = self.world.export()
        wait_until('that it is asked', lambda: self.requests_of(guest) > 0)
        self.assertEqual(2 * MIB, exporter.value(WINDOW))

        guest.free(guest.alloc(40 * MIB))

        exporter.wait_for(WINDOW, 42 * MIB)
        self.assertEqual([42 * MIB] * 3, [exporter.value(WINDOW) for _ in range(3)])
        self.assertEqual(402 * MIB - 2 * MIB, exporter.value('tidemark_allocated_peak_bytes'))

    def requests_of(self, guest):
        """How many requests a guest has done."""
        return int(re.search(r'requests done (\d+)', self.world.tidemark('show', str(guest.pid)).stdout)[1])

    def test_are_nobodys_but_the_exporters(self):
        guest = self.world.guest()
        guest.free(guest.alloc(20 * MIB))
        exporters = [self.world.export(), self.world.export()]
        self.assertEqual(0, self.world.tidemark('reset-peak', str(guest.pid)).returncode)
        asked = self.requests_of(guest)
        wait_until('that both have asked', lambda: self.requests_of(guest) > asked + 2)
        guest.free(guest.alloc(8 * MIB))

        for exporter in exporters:
            wait_until('the peak', lambda exporter=exporter: exporter.value(WINDOW) >= 8 * MIB)
            self.assertEqual(8 * MIB, exporter.value('tidemark_allocated_peak_bytes'), 'of the user')
        exporters[0].kill()
        asked = self.requests_of(guest)
        wait_until('that the other goes on', lambda: self.requests_of(guest) > asked + 2)

    def test_are_absent_where_nobody_may_ask(self):
        guest = self.world.guest(TIDEMARK_CONTROL='off')
        guest.alloc(2 * MIB)
        exporter = self.world.export()

        wait_until('that it is known', lambda: exporter.value(WINDOW) is None)
        self.assertEqual(2 * MIB, exporter.value('tidemark_allocated_peak_bytes'))

    @unittest.skipIf(os.geteuid() != 0, 'needs root, to become somebody else')
    def test_are_absent_for_who_may_only_read(self):
        guests = [self.world.guest(TIDEMARK_ACCESS='all'), self.world.guest()]
        for guest in guests:
            guest.alloc(2 * MIB)
        exporter = self.world.export(user=65534, group=65534, extra_groups=[])

        wait_until('that it is known', lambda: exporter.value(WINDOW) is None)
        self.assertEqual(2 * MIB, exporter.value('tidemark_allocated_bytes'))
        self.assertEqual(1, exporter.value('tidemark_processes', state='unreadable'))


class Pages(Exporting):
    def test_are_what_was_asked_for(self):
        self.world.guest().alloc(MIB)
        exporter = self.world.export()

        answer, text = exporter.get()
        self.assertEqual('text/plain; version=0.0.4; charset=utf-8', answer.getheader('Content-Type'))
        answer, text = exporter.get(accept='application/openmetrics-text;version=1.0.0,text/plain;q=0.5')
        self.assertEqual(OPEN_METRICS, answer.getheader('Content-Type'))
        self.assertTrue(text.endswith('\n# EOF\n'))

        for path in ('/-/healthy', '/-/ready'):
            self.assertEqual('ok\n', exporter.page(path))
        self.assertEqual(404, exporter.get('/nothing')[0].status)
        self.assertEqual(405, exporter.get(method='POST')[0].status)
        self.assertIn('text/html', exporter.get('/')[0].getheader('Content-Type'))
        self.assertIn("connect-src 'self'", exporter.get('/')[0].getheader('Content-Security-Policy'))

    def test_are_served_on_every_address(self):
        exporter = self.world.export(listen=':0')

        self.assertEqual(1, exporter.value('tidemark_up'))

    @unittest.skipUnless(shutil.which('promtool'), 'no promtool')
    def test_pass_promtool(self):
        self.world.guest().alloc(MIB)
        exporter = self.world.export('--per-process')
        exporter.page()

        checked = subprocess.run(['promtool', 'check', 'metrics'], input=exporter.page(), capture_output=True, text=True,
                                 check=False)

        self.assertEqual((0, '', ''), (checked.returncode, checked.stdout, checked.stderr))

    def test_pass_a_strict_parser_of_open_metrics(self):
        parser = ['/usr/bin/python3', '-c', 'import sys; from prometheus_client.openmetrics.parser import '
                  'text_string_to_metric_families as parse; print(len(list(parse(sys.stdin.read()))))']
        if subprocess.run(parser, input='# EOF\n', capture_output=True, text=True, check=False).returncode != 0:
            self.skipTest('no python3-prometheus-client')
        guest = self.world.guest(RANK='0', TIDEMARK_LABEL='a "b" \\ c', TIDEMARK_LIMIT='64MiB')
        guest.alloc(MIB)
        guest.ask(f'alloc {512 * MIB}')
        exporter = self.world.export('--per-process')
        exporter.page()

        parsed = subprocess.run(parser, input=exporter.get(accept='application/openmetrics-text')[1],
                                capture_output=True, text=True, check=False)

        self.assertEqual('', parsed.stderr)
        self.assertGreater(int(parsed.stdout), 40)

    def test_once_go_to_a_file_as_a_whole(self):
        guest = self.world.guest()
        guest.alloc(2 * MIB)
        guest.alloc(2 * MIB)
        target = self.world.place / 'tidemark.prom'

        printed = self.world.tidemark('export', '--once')
        self.assertEqual(0, printed.returncode)
        self.assertIn((ALLOCATIONS, 2), [(name, value) for name, _, value in samples(printed.stdout)])
        self.assertNotIn('window', printed.stdout)
        self.assertEqual(0, self.world.tidemark('export', '--once', '-o', str(target)).returncode)
        self.assertEqual(0o644, stat.S_IMODE(target.stat().st_mode))
        self.assertIn('exists', self.world.tidemark('export', '--once', '-o', str(target)).stderr)
        self.assertEqual(0, self.world.tidemark('export', '--once', '-f', '-o', str(target)).returncode)
        self.assertEqual([target], list(self.world.place.glob('tidemark.prom*')))


class Trouble(Exporting):
    def test_of_a_directory_that_vanishes_is_told_and_ends_with_it(self):
        guest = self.world.guest()
        guest.alloc(2 * MIB)
        exporter = self.world.export()
        exporter.wait_for('tidemark_up', 1)
        away = self.world.place / 'away'
        self.world.segments.rename(away)
        exporter.wait_for('tidemark_up', 0)
        self.assertIsNone(exporter.value('tidemark_allocated_bytes'))
        self.assertEqual('ok\n', exporter.page('/-/healthy'))
        away.rename(self.world.segments)

        exporter.wait_for('tidemark_up', 1)
        exporter.wait_for('tidemark_allocated_bytes', 2 * MIB)

    def test_of_damaged_files_is_counted(self):
        (self.world.segments / 'tidemark.0.1.0123456789abcdef').write_bytes(b'\xff' * 50000)
        exporter = self.world.export()

        self.assertEqual(1, exporter.value('tidemark_segment_errors_total', reason='damaged'))
        self.assertEqual(1, exporter.value('tidemark_segment_errors_total'))

    def test_of_stopped_programs_delays_nobody(self):
        guests = [self.world.guest() for _ in range(8)]
        for guest in guests:
            guest.alloc(2 * MIB)
        exporter = self.world.export()
        for guest in guests:
            os.kill(guest.pid, signal.SIGSTOP)
        for _ in range(30):
            self.assertEqual(16 * MIB, exporter.value('tidemark_allocated_bytes'))
        for guest in guests:
            os.kill(guest.pid, signal.SIGCONT)
        guests[0].free(guests[0].alloc(60 * MIB))

        exporter.wait_for(WINDOW, 62 * MIB)

    def test_of_slow_clients_is_theirs(self):
        exporter = self.world.export()
        clients = [socket.create_connection(('127.0.0.1', exporter.port)) for _ in range(200)]
        for client in clients:
            client.sendall(b'GET /met')

        self.assertEqual(1, exporter.value('tidemark_up'))

        for client in clients:
            client.close()
        for nonsense in (b'\0' * 10000, b'GET', b'GET / HTTP/1.1\r\nHost: \xff\r\n\r\n', b'GET ' + b'/' * 100000):
            with socket.create_connection(('127.0.0.1', exporter.port)) as client, contextlib.suppress(OSError):
                client.sendall(nonsense)  # the server may be gone before it has all of it
                client.shutdown(socket.SHUT_WR)
                client.recv(100)
        self.assertEqual(1, exporter.value('tidemark_up'))

    def test_of_signals_ends_it_in_order(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            exporter = self.world.export()
            with socket.create_connection(('127.0.0.1', exporter.port)):
                self.assertEqual(0, exporter.stop(number))

    def test_of_a_port_in_use_is_said(self):
        exporter = self.world.export()

        second = self.world.tidemark('export', '--listen', exporter.address)

        self.assertEqual(1, second.returncode)
        self.assertIn(f'cannot listen on 127.0.0.1 port {exporter.port} (Address already in use)', second.stderr)
        self.assertEqual(1, second.stderr.count('\n'))

    def test_of_a_command_line_is_said(self):
        for words in (('--listen', 'here'), ('--listen', '1.2.3.4:99999'), ('--max-series', '0'),
                      ('--max-series', 'many'), ('-o', 'x'), ('more',)):
            refused = self.world.tidemark('export', *words)
            self.assertEqual((2, 1), (refused.returncode, refused.stderr.count('\n')), words)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
