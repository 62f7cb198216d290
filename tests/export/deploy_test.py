"""What lies in deploy/ and docs/fleet.md: every metric that is named exists, rules and configurations are valid.

    deploy_test.py BUILD_DIRECTORY

Names come from viewer/export/metric_list.hpp, the exporter's own list.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / 'deploy'
RULES = DEPLOY / 'prometheus/tidemark.rules.yml'
DASHBOARD = DEPLOY / 'grafana/tidemark.json'
FLEET = ROOT / 'docs/fleet.md'
# With a recorded name's level before the colon and its operation behind.
NAME = re.compile(r'(?:[a-z_]+:)?\btidemark_[a-z_]*[a-z](?::[a-z_0-9]+)?')
KUBERNETES_SD = re.compile(r'kubernetes_sd_configs:\n  - role: pod\n')


def read(path):
    return path.read_text(encoding='utf-8')


def metrics():
    """Names and kinds of all metrics that the exporter has."""
    return dict(re.findall(r'X\(\w+, "(\w+)", (\w+),', read(ROOT / 'viewer/export/metric_list.hpp')))


def recorded():
    return set(re.findall(r'- record: (\S+)', read(RULES)))


def alerts():
    return set(re.findall(r'- alert: (\S+)', read(RULES)))


def expressions(node):
    """Every expression and query of a dashboard."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ('expr', 'definition', 'query') and isinstance(value, str):
                yield value
            else:
                yield from expressions(value)
    elif isinstance(node, list):
        for part in node:
            yield from expressions(part)


def promtool(*words):
    return subprocess.run(['promtool', *map(str, words)], capture_output=True, text=True, check=False)


class Names(unittest.TestCase):
    def test_in_rules_dashboard_and_documents_exist(self):
        known = set(metrics()) | recorded()
        self.assertGreater(len(known), 60)
        files = [path for path in DEPLOY.rglob('*') if path.suffix in ('.yml', '.json', '.md')]
        self.assertGreater(len(files), 5)
        for path in [*files, FLEET]:
            with self.subTest(str(path.relative_to(ROOT))):
                self.assertEqual(set(), {name for name in NAME.findall(read(path)) if name not in known})

    def test_that_do_not_exist_would_be_found(self):
        for text, names in (('sum(tidemark_gone_bytes) / x', ['tidemark_gone_bytes']),
                            ('a_b:tidemark_held_bytes:sum', ['a_b:tidemark_held_bytes:sum'])):
            self.assertEqual(names, NAME.findall(text))

    def test_of_every_metric_are_in_the_document(self):
        named = set(NAME.findall(read(FLEET)))

        self.assertEqual(set(), set(metrics()) - named)
        self.assertEqual(set(), recorded() - named)

    def test_of_every_alert_are_in_the_document_and_tested(self):
        self.assertEqual(set(), {name for name in alerts() if f'`{name}`' not in read(FLEET)})
        tests = read(RULES.with_suffix('.test.yml'))
        self.assertEqual(set(), {name for name in alerts() if name not in tests})

    def test_of_counters_are_asked_for_as_rates(self):
        counters = [name for name, kind in metrics().items() if kind == 'Counter']
        asked = [*re.findall(r'expr: (.*)', read(RULES)), *expressions(json.loads(read(DASHBOARD)))]
        for expression in asked:
            for name in counters:
                for found in re.finditer(rf'(\w+)\({name}\b|\b{name}\b', expression):
                    self.assertIn(found[1], ('rate', 'increase', 'label_values'), expression)


@unittest.skipUnless(shutil.which('promtool'), 'no promtool (Debian package prometheus)')
class Promtool(unittest.TestCase):
    def check(self, *words):
        checked = promtool(*words)
        self.assertEqual(0, checked.returncode, checked.stdout + checked.stderr)
        return checked.stdout

    def test_finds_the_rules_right(self):
        self.assertIn(f'{len(recorded()) + len(alerts())} rules found', self.check('check', 'rules', RULES))
        self.assertIn('SUCCESS', self.check('test', 'rules', RULES.with_suffix('.test.yml')))

    def test_finds_the_configurations_right(self):
        self.check('check', 'config', RULES.with_name('prometheus.yml'))
        # Debian's has no Kubernetes in it: its targets are left out.
        text, count = KUBERNETES_SD.subn('static_configs:\n  - targets: [node]\n', read(RULES.with_name('kubernetes.yml')))
        self.assertEqual(1, count)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / RULES.name).write_text(read(RULES), encoding='utf-8')
            config = Path(folder) / 'prometheus.yml'
            config.write_text(text, encoding='utf-8')
            self.check('check', 'config', config)


class Dashboard(unittest.TestCase):
    def setUp(self):
        self.dashboard = json.loads(read(DASHBOARD))

    def test_has_the_variables_in_their_order(self):
        self.assertEqual(['datasource', 'job', 'instance', 'device', 'command'],
                         [variable['name'] for variable in self.dashboard['templating']['list']])

    def panels(self):
        for panel in self.dashboard['panels']:
            yield panel
            yield from panel.get('panels', [])

    def test_has_units_and_a_word_where_there_is_nothing(self):
        units = set()
        for panel in self.panels():
            if panel['type'] != 'row':
                with self.subTest(panel['title']):
                    self.assertNotEqual('graph', panel['type'], 'the old panel')
                    self.assertTrue(panel['fieldConfig']['defaults'].get('noValue'))
                    self.assertTrue(panel.get('description'))
                    units.add(panel['fieldConfig']['defaults'].get('unit'))
        self.assertIn('bytes', units)
        self.assertIn('percentunit', units)
        self.assertFalse({'decbytes', 'decmbytes', 'mbytes'} & units)

    def test_has_panels_of_their_own_place(self):
        ids = [panel['id'] for panel in self.panels()]
        self.assertEqual(len(ids), len(set(ids)))
        for panel in self.dashboard['panels']:
            place = panel['gridPos']
            self.assertLessEqual(place['x'] + place['w'], 24)


class Containers(unittest.TestCase):
    def test_name_what_the_build_installs(self):
        self.assertIn('lib/tidemark/libtidemark.so', read(DEPLOY / 'container/Dockerfile'))
        for path in (DEPLOY / 'kubernetes').glob('*.yml'):
            self.assertIn('/run/tidemark', read(path), 'the directory that pods and exporter share')

    def test_are_yaml(self):
        parse = ('import sys, yaml; [yaml.safe_load_all(open(path)) and list(yaml.safe_load_all(open(path))) '
                 'for path in sys.argv[1:]]')
        python = next((one for one in (sys.executable, '/usr/bin/python3')
                       if subprocess.run([one, '-c', 'import yaml'], capture_output=True, check=False).returncode == 0), None)
        if python is None:
            self.skipTest('no python3-yaml')
        files = [str(path) for path in DEPLOY.rglob('*.yml')]

        parsed = subprocess.run([python, '-c', parse, *files], capture_output=True, text=True, check=False)

        self.assertEqual('', parsed.stderr)

    @unittest.skipUnless(shutil.which('systemd-analyze'), 'no systemd-analyze')
    def test_service_is_one_of_systemd(self):
        with tempfile.TemporaryDirectory() as folder:
            unit = Path(folder) / 'tidemark-export.service'
            unit.write_text(read(DEPLOY / 'systemd/tidemark-export.service').replace('/usr/local/bin/tidemark', '/bin/true'),
                            encoding='utf-8')
            checked = subprocess.run(['systemd-analyze', 'verify', '--man=no', unit], capture_output=True, text=True,
                                     check=False)

        about_ours = [line for line in checked.stderr.splitlines() if 'tidemark-export' in line]
        self.assertEqual([], about_ours)


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
