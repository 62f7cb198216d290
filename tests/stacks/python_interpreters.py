"""Runs python_stacks.py in each interpreter that there is: the one of the build, those on the PATH, those of pyenv.

    python_interpreters.py PROBE
"""

import glob
import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = range(8, 14)


def interpreters():
    candidates = [sys.executable, '/usr/bin/python3', *(shutil.which(f'python3.{version}') for version in VERSIONS),
                  *sorted(glob.glob(os.path.expanduser('~/.pyenv/versions/3.*/bin/python3')))]
    seen = {}
    for candidate in filter(None, candidates):
        asked = subprocess.run([candidate, '-c', 'import ctypes, sys; print(sys.executable, sys.version_info[1])'],
                               capture_output=True, text=True, check=False)
        if asked.returncode == 0 and int(asked.stdout.split()[1]) in VERSIONS:
            seen.setdefault(os.path.realpath(asked.stdout.split()[0]), None)
    return list(seen)


def main():
    failed = []
    for python in interpreters():
        run = subprocess.run([python, '-B', str(Path(__file__).with_name('python_stacks.py')), sys.argv[1]], capture_output=True,
                             text=True, check=False)
        print(run.stdout.strip().replace('\n', ', '), 'failed' if run.returncode else 'ok', flush=True)
        if run.returncode or 'at the end: ' not in run.stdout:
            failed.append(python)
            print(run.stderr)
    return 1 if failed else 0


sys.exit(main())
