"""Python environments of their own for other people's packages, pinned, made once and kept in the build directory."""

import fcntl
import hashlib
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

INSTALL_S = 900


class Unavailable(Exception):
    """Why the packages can't be had on this machine."""


def python_with(root, packages):
    """The interpreter of an environment that has just these packages: `root` is where environments lie."""
    if importlib.util.find_spec('venv') is None or importlib.util.find_spec('ensurepip') is None:
        raise Unavailable('this Python makes no environments (Debian: python3-venv)')
    root.mkdir(parents=True, exist_ok=True)
    environment = root / packages.stem
    stamp = environment / 'packages.sha256'
    wanted = hashlib.sha256(packages.read_bytes() + sys.version.encode()).hexdigest()
    with (root / f'{packages.stem}.lock').open('w') as lock:  # tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != wanted:
            shutil.rmtree(environment, ignore_errors=True)
            make(environment, packages)
            stamp.write_text(wanted)
    return environment / 'bin/python'


def make(environment, packages):
    subprocess.run([sys.executable, '-m', 'venv', environment], check=True, timeout=INSTALL_S)
    # The pins are the whole list: nothing else is looked for. Retries would only make a machine without a registry wait.
    install = [environment / 'bin/python', '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input',
               '--no-deps', '--retries', '1', '--timeout', '20', '--requirement', packages]
    done = subprocess.run(install, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=INSTALL_S, check=False)
    if done.returncode != 0:
        raise Unavailable(f'pip could not install {Path(packages).name}: {last_line(done.stdout)}')


def last_line(text):
    errors = [line for line in text.splitlines() if line.startswith('ERROR')]
    return (errors or text.splitlines() or ['it says nothing'])[0]
