"""Runs a program of somebody else's libraries natively and under the shim, and compares what it holds with what we say.

    run.py BUILD_DIRECTORY CLIENT

A client is a program in programs/ and a list of pinned packages in packages/; these go into an environment of their own in
the build directory, made at first use. At each of its phases a program tells what its library says that it holds: the same
must be in `tidemark ps --json`, to the byte. Both runs print the same. Exits 77 (skipped) with the reason where the packages
can't be had.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import environments
import simulators

HERE = Path(__file__).resolve().parent
LIMIT_S = 120

# NVIDIA's own runtime refuses a driver that isn't NVIDIA's: these stop at its first call, and say so in these words.
REFUSED = {'packages': 'runtime', 'stops_at': 'cudaErrorNotSupported'}
CLIENTS = {
    'cuda_bindings': {'packages': 'driver'},
    'cuda_core': {'packages': 'driver'},
    'numba_cuda': {'packages': 'driver'},
    # Loaded with RTLD_DEEPBIND, it calls libc's own dlsym: no preload stands in between, and there is nothing to see.
    'taichi': {'packages': 'driver', 'is_unseen': True},
    'tinygrad': {'packages': 'driver'},
    'pycuda': {'packages': 'pycuda'},
    'cuda_runtime': REFUSED,
    'cupy': REFUSED,
    'rmm': REFUSED,
    # Older ones leave the runtime to a library, and the simulated one is as good.
    'cupy12': {'packages': 'cupy12', 'program': 'cupy', 'simulator': simulators.of_cuda_12},
}


class Failed(Exception):
    """What was expected, and what was."""


class World:
    """Both ways to run a program, and the viewer's eyes on the second."""

    def __init__(self, build, libraries, python, directory):
        self.build = build
        self.libraries = libraries
        self.python = python
        self.directory = directory

    def launch(self, program, shimmed, errors):
        # No more than a program needs, so that a test sees the same on every machine.
        environment = {
            'PATH': os.environ['PATH'],
            'HOME': self.directory,
            'LANG': 'C.UTF-8',
            'LD_LIBRARY_PATH': ':'.join(map(str, self.libraries)),
        }
        if shimmed:
            environment['LD_PRELOAD'] = str(self.build / 'lib/libtidemark.so')
            environment['TIDEMARK_DIR'] = self.directory
        return subprocess.Popen([self.python, '-B', program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=errors, text=True, cwd=self.directory)

    def processes(self):
        out = subprocess.run([self.build / 'bin/tidemark', 'ps', '--json'], env={'TIDEMARK_DIR': self.directory}, check=True,
                             stdout=subprocess.PIPE, timeout=LIMIT_S)
        return json.loads(out.stdout)['processes']

    def process(self, pid):
        found = [process for process in self.processes() if process['pid'] == pid]
        if len(found) != 1 or len(found[0]['devices']) != 1:
            raise Failed(f'expected process {pid} with one device, got {json.dumps(found)}')
        return found[0]


def counted(process, kind):
    device = process['devices'][0]
    if kind == 'requested':
        return device['stats']['requested_bytes.all.current']
    if kind == 'used':  # total less free of the driver's memory information: before anything was freed, so nothing is idle
        return device['held']['current_bytes']
    kinds = device['kinds'] if kind in device['kinds'] else process['host_kinds']
    return kinds[kind]['current_bytes']


def compare(name, holds, process):
    for kind, theirs in holds.items():
        ours = counted(process, kind)
        print(f'  {name}: {kind}: theirs {theirs}, ours {ours}')
        if ours != theirs:
            raise Failed(f'{name}: {kind}: the program holds {theirs} bytes, tidemark says {ours}')


def look(world, pid, told, is_unseen):
    if is_unseen:
        if world.processes():
            raise Failed('it is seen: docs/clients.md says otherwise')
        return
    compare(told['phase'], told['holds'], world.process(pid))


def talk(world, program, shimmed, is_unseen=False):
    """Everything that both runs must have in common: lines, names of phases, where it stopped."""
    said = []
    with tempfile.TemporaryFile('w+') as errors, world.launch(program, shimmed, errors) as running:
        try:
            for line in running.stdout:
                if not line.startswith('{'):
                    said.append(line)
                    continue
                told = json.loads(line)
                said.append(told.get('phase') or line)
                if 'phase' in told:
                    if shimmed:
                        look(world, running.pid, told, is_unseen)
                    running.stdin.write('\n')
                    running.stdin.flush()
            said.append(f'exit code {running.wait(LIMIT_S)}')
        finally:
            running.kill()
        errors.seek(0)
        return said, errors.read()


def run(build, client):
    wanted = CLIENTS[client]
    python = environments.python_with(build / 'tests/clients', HERE / f'packages/{wanted["packages"]}.txt')
    program = HERE / f'programs/use_{wanted.get("program", client)}.py'
    libraries = [build / 'simulator']
    if 'simulator' in wanted:
        libraries = wanted['simulator'](build / 'tests/clients', python)
    with tempfile.TemporaryDirectory(prefix='tidemark-client.') as directory:
        world = World(build, libraries, python, directory)
        native, native_errors = talk(world, program, shimmed=False)
        print(f'natively: {native}')
        if native[-1] != 'exit code 0':
            raise Failed(f'natively: {native}\n{native_errors}')
        print('under the shim:')
        shimmed, shimmed_errors = talk(world, program, shimmed=True, is_unseen=wanted.get('is_unseen', False))
        if shimmed != native:
            raise Failed(f'natively {native}, under the shim {shimmed}\n{shimmed_errors}')
        left = world.processes()
        if left:
            raise Failed(f'left behind: {json.dumps(left)}')
    check_stop(wanted, native)


def check_stop(wanted, said):
    stops = [json.loads(line)['stopped'] for line in said if line.startswith('{"stopped"')]
    expected = wanted.get('stops_at')
    if expected is None and stops:
        raise Failed(f'stopped: {stops[0]}')
    if expected is not None and not (stops and expected in stops[0]):
        raise Failed(f'expected to stop with "{expected}", got {said}: docs/clients.md says otherwise')


def main():
    build, client = Path(sys.argv[1]).resolve(), sys.argv[2]
    try:
        run(build, client)
    except environments.Unavailable as reason:
        print(f'skipped: {reason}')
        return 77
    except Failed as failure:
        print(f'failed: {failure}')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
