"""What the exporter's tests share: an exporter, guests that allocate what they are told, and pages taken apart.

Everything is ended by its own pid, and by the kernel if the test dies. Waits are for what has to come, never for a time.
"""

import ctypes
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

LONGEST_WAIT = 60
MIB = 1 << 20
PR_SET_PDEATHSIG = 1
SAMPLE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_until(what, question):
    """Asks until the answer is true, and returns it."""
    end = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(0.02)
    raise AssertionError(f'did not come: {what}')


def samples(text):
    """(name, labels, value) of every sample of a page."""
    found = []
    for line in text.splitlines():
        if line and not line.startswith('#'):
            name, labels, value = SAMPLE.match(line).groups()
            found.append((name, dict(LABEL.findall(labels or '')), float(value)))
    return found


class Child:
    """A process of ours."""

    def __init__(self, command, environment=None, **options):
        self.process = subprocess.Popen([str(word) for word in command], env=environment, text=True,
                                        preexec_fn=die_with_parent, **options)
        self.pid = self.process.pid

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()
        if self.process.poll() is None:
            self.process.kill()
        return self.process.wait()


class Guest(Child):
    """A program that does with device memory what it is told."""

    def __init__(self, command, environment):
        super().__init__(command, environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.ask('hello') == 'hello'

    def ask(self, line):
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def alloc(self, size):
        answer = self.ask(f'alloc {size}').split()
        assert answer[0] == 'ok', answer
        return int(answer[1])

    def free(self, slot):
        assert self.ask(f'free {slot}') == '0'

    def exit(self):
        """As a program that ends."""
        self.process.stdin.write('exit 0\n')
        self.process.stdin.flush()
        return self.process.wait()



class Exporter(Child):
    def __init__(self, command, environment, **options):
        super().__init__(command, environment, stdout=subprocess.PIPE, **options)
        line = self.process.stdout.readline()
        found = re.match(r'serving http://(\S+):(\d+)/metrics\n', line)
        assert found, line
        self.port = int(found[2])
        self.address = f'127.0.0.1:{self.port}'

    def get(self, path='/metrics', accept='', method='GET'):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=LONGEST_WAIT)
        try:
            connection.request(method, path, headers={'Accept': accept} if accept else {})
            answer = connection.getresponse()
            return answer, answer.read().decode()
        finally:
            connection.close()

    def page(self, path='/metrics'):
        answer, text = self.get(path)
        assert answer.status == 200, (answer.status, text)
        return text

    def value(self, name, **labels):
        """The sum of the samples with these labels; None: there is none."""
        found = [value for known, has, value in samples(self.page())
                 if known == name and all(has.get(key) == text for key, text in labels.items())]
        return sum(found) if found else None

    def wait_for(self, name, wanted, **labels):
        met = []

        def question():
            met.append(self.value(name, **labels))
            return met[-1] == wanted
        try:
            wait_until(f'{name} {labels} {wanted}', question)
        except AssertionError as error:
            raise AssertionError(f'{error}; it is {met[-1]}') from None

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(LONGEST_WAIT)


class World:
    """A directory of segments, and the build's programs around it."""

    def __init__(self, test, build):
        self.build = Path(build)
        self.test = test
        self.viewer = self.build / 'bin/tidemark'
        self.place = Path(tempfile.mkdtemp(prefix='tidemark-export.'))
        test.addCleanup(shutil.rmtree, self.place, True)
        self.segments = self.place / 'segments'
        self.segments.mkdir(mode=0o1777)
        self.segments.chmod(0o1777)
        self.place.chmod(0o755)
        self.environment = {'PATH': os.environ['PATH'], 'HOME': str(self.place), 'LANG': 'C',
                            'TIDEMARK_DIR': str(self.segments)}

    def _kept(self, child):
        self.test.addCleanup(child.close)
        return child

    def guest_environment(self, **more):
        return {**self.environment, 'LD_LIBRARY_PATH': str(self.build / 'simulator'),
                'LD_PRELOAD': str(self.build / 'lib/libtidemark.so'), 'TIDEMARK_ALLOC_CONF': 'large:whole', **more}

    def guest(self, kind='mtia', before=(), **variables):
        program = self.build / f'tests/bin/guest_{kind}'
        environment = self.guest_environment(**variables)
        if before:  # the library is for the guest alone
            before = [*before, 'env', f"LD_PRELOAD={environment.pop('LD_PRELOAD')}"]
        return self._kept(Guest([*before, program], environment))

    def run(self, command):
        """A program under the library that waits for its stdin to end."""
        return self._kept(Child(command, self.guest_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE))

    def export(self, *options, listen='127.0.0.1:0', before=(), environment=None, **more):
        return self._kept(Exporter([*before, self.viewer, 'export', '--listen', listen, *options],
                                   environment or self.environment, **more))

    def tidemark(self, *words):
        return subprocess.run([self.viewer, *words], env=self.environment, capture_output=True, text=True, check=False,
                              timeout=LONGEST_WAIT)

    def ps(self):
        return json.loads(self.tidemark('ps', '--json').stdout)
