"""The simulated CUDA 12, for libraries that want `libcudart.so.12`: built with the headers that the registry has of it."""

import fcntl
import shutil
import subprocess
from pathlib import Path

from environments import Unavailable

BUILD_S = 1000
SOURCE = Path(__file__).resolve().parents[2]
# Libraries that CuPy asks for and nothing here calls: empty ones do, as functions are looked up when they are called.
STAND_INS = ('libcublas.so.12', 'libcufft.so.11', 'libcurand.so.10', 'libcusolver.so.11', 'libcusparse.so.12', 'libnvrtc.so.12')


def of_cuda_12(root, python):
    """The directories that hold it, for LD_LIBRARY_PATH. `python`: an environment with the headers' packages."""
    for tool in ('cmake', 'ninja', 'cc'):
        if shutil.which(tool) is None:
            raise Unavailable(f'{tool} is not installed')
    build = root / 'cuda12'
    with (root / 'cuda12.lock').open('w') as lock:  # tests run side by side
        fcntl.flock(lock, fcntl.LOCK_EX)
        toolkit = lay_out_toolkit(root / 'toolkit12', python.parent.parent)
        configure = ['cmake', '-S', SOURCE, '-B', build, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=RelWithDebInfo',
                     f'-DCUDAToolkit_ROOT={toolkit}', '-DTIDEMARK_BENCH=OFF']
        for command in (configure, ['cmake', '--build', build, '--target', 'cudart']):
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=BUILD_S)
        stand_ins = root / 'stand_ins'
        stand_ins.mkdir(exist_ok=True)
        for name in STAND_INS:
            subprocess.run(['cc', '-shared', '-x', 'c', '/dev/null', '-o', stand_ins / name, f'-Wl,-soname,{name}'], check=True,
                           timeout=BUILD_S)
    return [build / 'simulator', stand_ins]


def lay_out_toolkit(toolkit, environment):
    """As CMake looks for a toolkit: the registry has the parts, in folders of their own."""
    parts = next(environment.glob('lib/python*/site-packages/nvidia'))
    stamp = 'packages.sha256'
    laid, wanted = toolkit / stamp, (environment / stamp).read_text()
    if laid.exists() and laid.read_text() == wanted:  # new files would make everything be built again
        return toolkit
    shutil.rmtree(toolkit, ignore_errors=True)
    for folder in ('bin', 'lib64'):
        (toolkit / folder).mkdir(parents=True)
    for part in ('cuda_nvcc', 'cuda_runtime'):
        shutil.copytree(parts / part / 'include', toolkit / 'include', dirs_exist_ok=True)
    (toolkit / 'lib64/libcudart.so').symlink_to(parts / 'cuda_runtime/lib/libcudart.so.12')
    # CMake asks the compiler what version the toolkit has.
    compiler = toolkit / 'bin/nvcc'
    compiler.write_text(f'#!/bin/sh\necho "Cuda compilation tools, release 12.9, V{version_of(parts.parent)}"\n')
    compiler.chmod(0o755)
    laid.write_text(wanted)
    return toolkit


def version_of(packages):
    folder = next(packages.glob('nvidia_cuda_runtime_cu12-*.dist-info'))
    return folder.name.removesuffix('.dist-info').split('-')[1]
