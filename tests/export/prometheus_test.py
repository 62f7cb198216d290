"""A real Prometheus scrapes two exporters, with programs behind them that live, die and start again.

    prometheus_test.py BUILD_DIRECTORY

Its API has to answer every query of the dashboard, and the alerts have to come when they should, and only then. Rules are
those of deploy/, with a second where they wait for minutes. Skipped where there is no Prometheus.
"""

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

from deploy_test import DASHBOARD, RULES, expressions, read
from fleet import LONGEST_WAIT, MIB, Child, World, wait_until

BUILD = sys.argv[1]
VARIABLES = {'$job': '.*', '$instance': '.*', '$device': '.*', '$command': '.*', '$__rate_interval': '10s'}
WINDOW = 'tidemark_allocated_window_peak_bytes'


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Prometheus(Child):
    def __init__(self, place, targets, interval):
        self.port = free_port()
        place.mkdir()
        rules = re.sub(r'\bfor: \w+', 'for: 1s', read(RULES))
        (place / 'rules.yml').write_text(rules, encoding='utf-8')
        (place / 'prometheus.yml').write_text(json.dumps({
            'global': {'scrape_interval': interval, 'scrape_timeout': interval, 'evaluation_interval': '1s'},
            'rule_files': ['rules.yml'],
            'scrape_configs': [{'job_name': 'tidemark', 'static_configs': [
                {'targets': [address], 'labels': {'instance': name}} for name, address in targets.items()]}]}),
            encoding='utf-8')
        super().__init__(['prometheus', f'--config.file={place}/prometheus.yml', f'--storage.tsdb.path={place}/data',
                          f'--web.listen-address=127.0.0.1:{self.port}', '--log.level=error'],
                         stdout=subprocess.DEVNULL)
        wait_until('Prometheus', self.is_ready)

    def is_ready(self):
        try:
            return self.ask('/-/ready')
        except OSError:
            return None

    def ask(self, path):
        with urllib.request.urlopen(f'http://127.0.0.1:{self.port}{path}', timeout=LONGEST_WAIT) as answer:
            return answer.read().decode()

    def query(self, expression):
        answer = json.loads(self.ask('/api/v1/query?' + urllib.parse.urlencode({'query': expression})))
        assert answer['status'] == 'success', answer
        return [(sample['metric'], float(sample['value'][1])) for sample in answer['data']['result']]

    def value(self, expression):
        found = self.query(expression)
        return found[0][1] if len(found) == 1 else None

    def wait_for(self, expression, wanted):
        met = []

        def question():
            met.append(self.value(expression))
            return met[-1] == wanted
        try:
            wait_until(f'{expression} = {wanted}', question)
        except AssertionError as error:
            raise AssertionError(f'{error}; it is {met[-1]}') from None

    def alerts(self):
        """Names of what fires, with the program or the instance."""
        found = json.loads(self.ask('/api/v1/alerts'))['data']['alerts']
        return {(alert['labels']['alertname'], alert['labels'].get('label') or alert['labels']['instance'])
                for alert in found if alert['state'] == 'firing'}

    def alerts_on_programs(self):
        """The same without what a scrape that came late on a busy machine sets off."""
        return {alert for alert in self.alerts() if alert[0] != 'TidemarkExporterDown'}

    def next_evaluation(self):
        """Returns after the rules were evaluated from a scrape that is later than now."""
        now = self.value('vector(time())')
        wait_until('two scrapes', lambda: (self.value('min(timestamp(tidemark_up))') or 0) > now + 2)


@unittest.skipUnless(shutil.which('prometheus'), 'no prometheus')
class Fleet(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.nodes = {'node1': World(self, BUILD), 'node2': World(self, BUILD)}
        self.exporters = {name: world.export() for name, world in self.nodes.items()}
        targets = {name: exporter.address for name, exporter in self.exporters.items()}
        self.prometheus = [Prometheus(self.nodes['node1'].place / f'server-{interval}', targets, interval)
                           for interval in ('1s', '3s')]
        for server in self.prometheus:
            self.addCleanup(server.close)
        self.server = self.prometheus[0]
        self.server.wait_for('sum(tidemark_up)', 2)

    def guest(self, node, label, **variables):
        guest = self.nodes[node].guest(TIDEMARK_LABEL=label, **variables)
        guest.alloc(2 * MIB)
        self.server.wait_for(f'sum(tidemark_group_processes{{label="{label}"}}) > 0',
                             1 if label != 'ranks' else int(variables['RANK']) + 1)
        return guest

    def test_answers_the_dashboard(self):
        self.guest('node1', 'ranks', RANK='0', TIDEMARK_LIMIT='1GiB').free(0)
        ranked = self.guest('node2', 'ranks', RANK='1', TIDEMARK_LIMIT='1GiB')
        ranked.ask('info')  # asks the driver what is free
        ended = self.guest('node2', 'ended', MTIA_SIM_DRAM='64MiB')
        ended.ask(f'alloc {512 * MIB}')
        ended.exit()
        ranked.free(ranked.alloc(40 * MIB))
        self.server.wait_for('sum(increase(tidemark_exits_total[30s])) > bool 0', 1)
        self.server.wait_for('command_label:tidemark_member_allocated_peak_bytes:spread', 40 * MIB)
        without_an_answer = set()

        for expression in expressions(json.loads(read(DASHBOARD))):
            if expression == 'prometheus':
                continue
            plain = expression
            for name, value in VARIABLES.items():
                plain = plain.replace(name, value)
            asked = re.match(r'query_result\((.*)\)$|label_values\((?:(.*), )?\w+\)$', plain, re.S)
            plain = plain if asked is None else asked[1] or asked[2]
            with self.subTest(expression):
                if not self.server.query(plain):
                    without_an_answer.add(plain)

        # An hour ago there was nothing.
        self.assertEqual([], [plain for plain in without_an_answer if 'offset 1h' not in plain])

    def test_tells_what_happened_and_no_more(self):
        one = self.guest('node1', 'train', TIDEMARK_LIMIT='64MiB')
        self.guest('node2', 'serve')
        self.server.wait_for('sum(tidemark_allocations_total{label="train"})', 1)

        # One ends as it should, holding memory, and starts again: no counter falls, and nothing is wrong.
        one.alloc(4 * MIB)
        one.exit()
        self.server.wait_for('sum(tidemark_exits_total{how="clean"})', 1)
        self.server.wait_for('sum(tidemark_held_at_exit_bytes_total)', 6 * MIB)
        one = self.guest('node1', 'train', TIDEMARK_LIMIT='64MiB')
        self.server.wait_for('sum(tidemark_allocations_total{label="train"})', 3)
        self.assertEqual([], self.server.query('resets(tidemark_allocations_total[5m]) > 0'))
        self.server.next_evaluation()
        self.assertEqual(set(), self.server.alerts_on_programs())

        # A peak of a moment, for both servers.
        one.free(one.alloc(30 * MIB))
        for server in self.prometheus:
            server.wait_for(f'max_over_time({WINDOW}{{label="train"}}[1m])', 32 * MIB)
        self.assertEqual(set(), self.server.alerts_on_programs())

        # What was cached has to go back for it.
        slot = one.alloc(60 * MIB)
        wait_until('the limit', lambda: self.server.alerts_on_programs() == {('TidemarkNearLimit', 'train'),
                                                                             ('TidemarkAllocationRetries', 'train')})
        one.free(slot)

        # One is killed in the middle, and one runs out of memory and is gone before anybody looks.
        two = self.guest('node2', 'killed')
        two.kill()
        self.server.wait_for('sum(tidemark_exits_total{how="killed"})', 1)
        three = self.nodes['node2'].guest(TIDEMARK_LABEL='greedy', MTIA_SIM_DRAM='64MiB')
        three.alloc(MIB)
        three.ask(f'alloc {512 * MIB}')
        three.exit()
        wait_until('the failure', lambda: ('TidemarkOutOfMemory', 'greedy') in self.server.alerts())
        for server in self.prometheus:
            server.wait_for('max by (label) (tidemark_last_oom_timestamp_seconds) > bool 0', 1)

        # An exporter goes, and comes again at the same place.
        port = self.exporters['node2'].port
        self.exporters['node2'].stop(signal.SIGKILL)
        wait_until('that it is missed', lambda: ('TidemarkExporterDown', 'node2') in self.server.alerts())
        self.nodes['node2'].export(listen=f'127.0.0.1:{port}')
        self.server.wait_for('sum(tidemark_up)', 2)
        wait_until('that it is back', lambda: ('TidemarkExporterDown', 'node2') not in self.server.alerts())
        self.server.wait_for('sum(tidemark_allocated_bytes{label="serve"})', 2 * MIB)
        self.assertEqual(0, self.server.value('sum(tidemark_allocations_total{label="serve"})'),
                         'what was counted before is no event of now')

        # The greedy one's failure counts as a retry as well, but none that helped.
        self.assertLessEqual(self.server.alerts_on_programs(),
                             {('TidemarkNearLimit', 'train'), ('TidemarkAllocationRetries', 'train'),
                              ('TidemarkOutOfMemory', 'greedy')})


if __name__ == '__main__':
    assert Path(RULES).exists()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
