"""Nothing may stay behind of a run of the tests.

    leftovers.py before|after BUILD_DIRECTORY
`before` notes which segments, directories and processes are there; `after` fails for each that is new.
"""

import json
import os
import sys
from pathlib import Path


def ancestors(pid):
    """The pids above a process, nearest first."""
    while pid not in ('0', '1'):
        try:
            pid = Path(f'/proc/{pid}/stat').read_text(encoding='utf-8').rpartition(')')[2].split()[1]
        except OSError:
            return
        yield pid


def other_test_runs():
    """The ctest processes that are not above us: somebody else's runs, at the same time."""
    ours = set(ancestors(str(os.getpid())))
    runs = set()
    for entry in Path('/proc').iterdir():
        try:
            if entry.name.isdigit() and entry.name not in ours and (entry / 'comm').read_text() == 'ctest\n':
                runs.add(entry.name)
        except OSError:
            pass
    return runs


def processes_of(build):
    """Processes that run a program of this build, or have its library preloaded, with their command lines."""
    found = {}
    others = other_test_runs()
    for entry in Path('/proc').iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            program = os.readlink(entry / 'exe')
            maps = (entry / 'maps').read_text(encoding='utf-8', errors='replace')
            command = (entry / 'cmdline').read_bytes().replace(b'\0', b' ').decode(errors='replace')
        except OSError:
            continue
        if (program.startswith(build + '/') or f'{build}/lib/libtidemark.so' in maps) and others.isdisjoint(ancestors(entry.name)):
            found[entry.name] = command
    return found


def owner_of(segment):
    """The pid in a segment's name, tidemark.UID.PID.NONCE."""
    words = segment.split('.')
    return words[2] if len(words) > 3 else ''


def files():
    return sorted(str(path) for pattern in ('/dev/shm/tidemark.*', '/tmp/tidemark-test.*')
                  for path in Path(pattern).parent.glob(Path(pattern).name))


def main():
    when, build = sys.argv[1], os.path.realpath(sys.argv[2])
    notes = Path(build) / 'leftovers.json'
    now = {'processes': processes_of(build), 'files': files()}
    if when == 'before':
        notes.write_text(json.dumps(now), encoding='utf-8')
        return 0
    before = json.loads(notes.read_text(encoding='utf-8'))
    left = [f'process {pid}: {command}' for pid, command in now['processes'].items() if pid not in before['processes']]
    if other_test_runs():
        print('other tests run at the same time: files are not looked at')
        now['files'] = []
    for path in now['files']:
        # A program that somebody else runs meanwhile is no leftover of ours.
        foreign = os.path.exists(f'/proc/{owner_of(path)}') and owner_of(path) not in now['processes']
        if path not in before['files'] and not foreign:
            left.append(f'file {path}')
    print('\n'.join(left) or 'nothing left behind')
    return 1 if left else 0


sys.exit(main())
