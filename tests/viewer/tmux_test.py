"""`tidemark top` in tmux, as a user has it: every key, other sizes, suspended, detached and attached, ended in every way.

    tmux_test.py VIEWER FAKE_PROCESS VIEWER_DOC

Waits for what the screen has to show, never for a time. Exit code 77, with the reason, where there is no tmux.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

VIEWER, FAKE_PROCESS, VIEWER_DOC = sys.argv[1:4]
LONGEST_WAIT = 60


def wait_until(what, question):
    """Asks until the answer is true, and returns it."""
    end = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(0.02)
    raise AssertionError(f'did not come: {what}')


class Terminal:
    """One pane of a tmux server of our own, with a program in it."""

    count = 0

    def __init__(self, directory, command, columns=100, rows=30, environment=None):
        Terminal.count += 1
        self.socket = f'{directory}/tmux-{Terminal.count}'
        variables = {'PATH': os.environ['PATH'], 'HOME': directory, 'LC_ALL': 'C.UTF-8', 'TIDEMARK_DIR': f'{directory}/segments',
                     'PS1': 'prompt> ', 'HISTFILE': '/dev/null',
                     'ASAN_OPTIONS': 'detect_leaks=0',  # curses keeps what it took for a terminal that it doesn't know
                     **(environment or {})}
        words = ['env', '-i', 'TERM=screen', *(f'{name}={value}' for name, value in variables.items()), *command]
        self.tmux('-f', '/dev/null', 'new-session', '-d', '-c', directory, '-x', str(columns), '-y', str(rows),
                  *words)

    def tmux(self, *words):
        return subprocess.run(['tmux', '-u', '-S', self.socket, *words], check=True, capture_output=True, text=True).stdout

    def close(self):
        subprocess.run(['tmux', '-S', self.socket, 'kill-server'], capture_output=True, check=False)

    def send(self, *keys):
        self.tmux('send-keys', *keys)

    def screen(self):
        return self.tmux('capture-pane', '-p')

    def ask(self, variable):
        return self.tmux('display-message', '-p', '#{' + variable + '}').strip()

    def wait_for(self, pattern):
        try:
            return wait_until(pattern, lambda: re.search(pattern, self.screen(), re.MULTILINE))
        except AssertionError as error:
            raise AssertionError(f'{error}\n{self.screen()}') from None

    def wait_gone(self, pattern):
        wait_until(f'the end of {pattern}', lambda: not re.search(pattern, self.screen(), re.MULTILINE))

    def top(self):
        """The pid of the viewer below the pane's shell."""
        shell = self.ask('pane_pid')
        return int(wait_until('top', lambda: Path(f'/proc/{shell}/task/{shell}/children').read_text().split())[0])


def documented_keys():
    """The names in the table of keys."""
    section = Path(VIEWER_DOC).read_text(encoding='utf-8').split('## `top`: keys\n')[1].split('\n## ')[0]
    return re.findall(r'^\| `(.+?)` \|', section, re.MULTILINE)


class TopInTmux(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix='tidemark-tmux-')
        self.addCleanup(shutil.rmtree, self.directory)
        self.segments = f'{self.directory}/segments'
        os.mkdir(self.segments, 0o700)
        self.fakes = [self.start_fake('alpha'), self.start_fake('beta')]

    def start_fake(self, label):
        process = subprocess.Popen([FAKE_PROCESS, self.segments, f'label={label}'], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_fake, process)
        self.assertTrue(process.stdout.readline().startswith('ready '))
        return process

    @staticmethod
    def end_fake(process):
        process.stdin.close()
        process.stdout.close()
        process.wait()

    def open(self, command, **options):
        terminal = Terminal(self.directory, command, **options)
        self.addCleanup(terminal.close)
        return terminal

    def open_top(self, *words, **options):
        terminal = self.open([VIEWER, 'top', '-i', '0.2', *words], **options)
        terminal.wait_for('beta: fake')
        return terminal

    def test_every_key_that_is_documented(self):
        terminal = self.open_top()
        first, second = (str(fake.pid) for fake in self.fakes)

        def press(key, expected):
            terminal.send(key)
            terminal.wait_for(expected)

        def selects(key, pid, device):
            press(key, rf'^{pid} {device} Fake device')

        def drive_filter():
            press('f', '^filter:')
            press('beta', '2 with .beta.')
            terminal.wait_gone('alpha: fake')
            terminal.send('Enter')

        def drive_search():
            press('/', '^search:')
            selects('beta', second, 'cuda:0')
            terminal.send('Enter')

        def twice(key, expected):
            press(key, expected)
            terminal.send(key)
            terminal.wait_gone(expected)

        def close_after(key, expected):
            press(key, expected)
            terminal.send('Escape')
            terminal.wait_for('LABEL/COMMAND')

        drivers = {
            'Down j': lambda: (selects('Down', first, 'mtia:0'), selects('j', second, 'cuda:0')),
            'Up k': lambda: (selects('Up', first, 'mtia:0'), selects('k', first, 'cuda:0')),
            'End G': lambda: (selects('End', second, 'mtia:0'), selects('g', first, 'cuda:0'),
                              selects('G', second, 'mtia:0')),
            'Home g': lambda: selects('Home', first, 'cuda:0'),
            'PgDn': lambda: selects('PPage', first, 'cuda:0') or selects('NPage', second, 'mtia:0'),
            'PgUp': lambda: selects('PPage', first, 'cuda:0'),
            '/': drive_search,
            'n': lambda: selects('n', second, 'mtia:0'),
            'N': lambda: selects('N', second, 'cuda:0'),
            'f': drive_filter,
            'Esc': lambda: press('Escape', 'alpha: fake'),
            '>': lambda: press('>', 'sorted by PID'),
            'I': lambda: press('I', '▼ *PID'),
            '<': lambda: press('<', 'in the order of their first allocations'),
            'Space': lambda: press('Space', '1 tagged'),
            'U': lambda: (terminal.send('U'), terminal.wait_gone('tagged')),
            't': lambda: press('t', 'LABEL/COMMAND') or terminal.send('t'),
            'z': lambda: twice('z', 'PAUSED'),
            '+': lambda: press('+', 'every 0.1 s'),
            '-': lambda: press('-', 'every 0.2 s'),
            'Enter': lambda: close_after('Enter', 'COUNTER'),
            'Tab': lambda: (press('Tab', '^devices'), press('Tab', 'LABEL/COMMAND'), close_after('d', '^devices')),
            '?': lambda: (close_after('?', '^tidemark top: keys and columns'), close_after('h', 'keys and columns'),
                          close_after('F1', 'keys and columns')),
            'F5 ^L': lambda: (press('F5', 'alpha: fake'), press('C-l', 'alpha: fake')),
            'm': lambda: press('m', 'my peak begins now'),
            'r': lambda: press('r', 'peak 300.0 MiB -> 100.0 MiB'),
            'e': lambda: (press('e', 'y: yes, any other key: no'), press('y', 'gave back 300.0 MiB of 400.0 MiB')),
        }
        self.assertEqual({*drivers, 'q'}, set(documented_keys()))
        for key, drive in drivers.items():
            with self.subTest(key=key):
                drive()
        terminal.send('q')
        wait_until('the end', lambda: subprocess.run(['tmux', '-S', terminal.socket, 'list-sessions'], check=False,
                                                     capture_output=True).returncode != 0)

    def test_mouse(self):
        terminal = self.open_top()
        wait_until('the mouse', lambda: terminal.ask('mouse_any_flag') == '1')

        def mouse(button, column, row):
            # Pressed and released, as the terminal `screen` reports it.
            place = chr(33 + column) + chr(33 + row)
            terminal.send('-l', f'\x1b[M{chr(32 + button)}{place}\x1b[M#{place}')

        mouse(0, 5, 5)  # a click on the third row: head, two devices, titles
        terminal.wait_for(f'^{self.fakes[0].pid} mtia:0 Fake device')
        mouse(65, 5, 5)  # the wheel, down
        terminal.wait_for(f'^{self.fakes[1].pid} mtia:0 Fake device')
        mouse(0, 1, int(terminal.ask('pane_height')) - 1)  # "q quit"
        wait_until('the end', lambda: subprocess.run(['tmux', '-S', terminal.socket, 'list-sessions'], check=False,
                                                     capture_output=True).returncode != 0)

    def test_without_the_mouse(self):
        terminal = self.open_top('--no-mouse')
        self.assertEqual(terminal.ask('mouse_any_flag'), '0')

    def test_other_sizes(self):
        terminal = self.open_top()
        # What a terminal of one cell shows is its own affair: a letter in its last column may scroll it away.
        for columns, rows, expected in [(200, 60, 'RETRIES'), (12, 3, '^need 37x6'), (40, 10, 'ALLOCATED'), (1, 1, ''),
                                        (80, 24, 'beta: fake'), (300, 100, '^ID|^ ID')]:
            terminal.tmux('resize-window', '-x', str(columns), '-y', str(rows))
            terminal.wait_for(expected)

    def test_what_ended_stays_for_a_while(self):
        terminal = self.open_top()
        self.fakes[0].stdin.write('leave\n')
        self.fakes[0].stdin.flush()
        self.fakes[0].wait()
        self.assertEqual([name for name in os.listdir(self.segments) if f'.{self.fakes[0].pid}.' in name], [])
        terminal.wait_for('exited.*alpha: fake')
        terminal.send('Enter')
        terminal.wait_for('exited,')
        terminal.send('Escape')
        terminal.wait_gone('alpha: fake')

    def test_suspended_and_continued(self):
        terminal = self.open(['bash', '--norc', '--noprofile', '-i'])
        terminal.wait_for('^prompt>')
        terminal.send('stty -g >before', 'Enter', f'{VIEWER} top -i 0.2', 'Enter')
        terminal.wait_for('beta: fake')
        terminal.send('C-z')
        terminal.wait_for('Stopped')
        self.assertEqual(terminal.ask('alternate_on'), '0')
        terminal.send('stty -g | cmp before && echo the same', 'Enter')
        terminal.wait_for('^the same')
        terminal.send('clear', 'Enter', 'fg', 'Enter')
        terminal.wait_for('LABEL/COMMAND')
        terminal.send('>')
        terminal.wait_for('sorted by')
        terminal.send('q')
        terminal.wait_for('^prompt>')
        self.assertEqual(terminal.ask('alternate_on'), '0')

    def test_detached_and_attached(self):
        terminal = self.open_top()
        for _ in range(2):
            master, slave = os.openpty()
            client = subprocess.Popen(['tmux', '-u', '-S', terminal.socket, 'attach'], stdin=slave, stdout=slave,
                                      stderr=slave, env={**os.environ, 'TERM': 'xterm'})
            os.close(slave)
            os.set_blocking(master, False)
            seen = b''

            def more():
                nonlocal seen
                try:
                    seen += os.read(master, 65536)
                except OSError:
                    pass
                return b'beta: fake' in seen

            wait_until('the screen in the client', more)
            terminal.tmux('detach-client')
            client.wait(LONGEST_WAIT)
            os.close(master)
        terminal.wait_for('beta: fake')

    def ends_well(self, name, leave):
        """A shell that puts no terminal back by itself says what stty says before and behind."""
        terminal = self.open(['sh', '-c', f'trap : INT; stty -g >{self.directory}/before; "{VIEWER}" top -i 0.2; code=$?; '
                              f'stty -g >{self.directory}/after; echo "left with $code"; exec cat'])
        terminal.wait_for('beta: fake')
        self.assertEqual(terminal.ask('alternate_on'), '1')
        self.assertEqual(terminal.ask('mouse_any_flag'), '1')
        top = terminal.top()
        leave(terminal, top)
        code = int(terminal.wait_for(r'left with (\d+)')[1])
        state = terminal.ask('alternate_on'), terminal.ask('cursor_flag'), terminal.ask('mouse_any_flag')
        before, after = (Path(self.directory, part).read_text() for part in ('before', 'after'))
        terminal.close()
        self.assertFalse(Path(f'/proc/{top}').exists(), name)
        return code, state, before == after

    def test_ended_in_every_way(self):
        def by(number):
            return lambda _, top: os.kill(top, number)

        ways = {'q': (lambda terminal, _: terminal.send('q'), 0), 'F10': (lambda terminal, _: terminal.send('F10'), 0),
                'Ctrl-C': (lambda terminal, _: terminal.send('C-c'), 130), 'TERM': (by(signal.SIGTERM), 143),
                'HUP': (by(signal.SIGHUP), 129), 'SEGV': (by(signal.SIGSEGV), 139)}
        for name, (leave, expected) in ways.items():
            with self.subTest(way=name):
                code, state, is_restored = self.ends_well(name, leave)
                # A sanitizer's own handler of crashes has an exit code of its own.
                self.assertIn(code, (expected, 1, 66) if name == 'SEGV' else (expected,))
                self.assertEqual((state, is_restored), (('0', '1', '0'), True))

    def test_killed(self):
        # Nothing can put the terminal back then; but nothing of ours stays behind.
        files = sorted(os.listdir(self.segments))
        code, _, _ = self.ends_well('KILL', lambda _, top: os.kill(top, signal.SIGKILL))
        self.assertEqual(code, 137)
        self.assertEqual(sorted(os.listdir(self.segments)), files)

    def test_with_nothing_but_ascii(self):
        for words, environment in [([], {'LC_ALL': 'C'}), (['--ascii'], {})]:
            terminal = self.open_top(*words, environment=environment)
            terminal.wait_for('# allocated')
            self.assertTrue(terminal.screen().isascii())
            terminal.close()

    def run_viewer(self, **options):
        environment = {'PATH': os.environ['PATH'], 'TIDEMARK_DIR': self.segments, **options.pop('environment', {})}
        return subprocess.run([VIEWER, 'top'], capture_output=True, text=True, env=environment, timeout=LONGEST_WAIT,
                              check=False, **options)

    def test_without_a_terminal_it_is_ps(self):
        done = self.run_viewer(stdin=subprocess.DEVNULL, environment={'TERM': 'xterm'})
        self.assertEqual(done.returncode, 0)
        self.assertIn('beta: fake', done.stdout)
        self.assertIn('top needs a terminal that TERM names; this is ps', done.stderr)

    def test_without_a_term_it_is_ps(self):
        for variable in ('-u TERM', 'TERM=no-such-terminal', 'TERM=dumb'):
            with self.subTest(variable=variable):
                terminal = self.open(['sh', '-c', f'env {variable} "{VIEWER}" top; echo "left with $?"; exec cat'])
                terminal.wait_for('^left with 0')
                self.assertRegex(terminal.screen(), 'this is ps')
                self.assertRegex(terminal.screen(), 'beta: fake')
                terminal.close()

    def test_with_its_input_closed(self):
        terminal = self.open(['sh', '-c', f'"{VIEWER}" top <&-; echo "left with $?"; exec cat'])
        terminal.wait_for('^left with 0')
        self.assertRegex(terminal.screen(), 'this is ps')


if __name__ == '__main__':
    if shutil.which('tmux') is None:
        print('skipped: there is no tmux (scripts/setup.sh installs it)')
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
