"""A small launcher, as torchrun is a large one: starts one guest a device and tells each its rank. Each allocates as many
MiB as it is told, frees them and stays until the launcher's stdin ends.

    launch_ranks.py GUEST MIB...
"""

import os
import subprocess
import sys


def start(guest, rank, world):
    environment = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(world),
                       CUDA_VISIBLE_DEVICES=str(rank))
    return subprocess.Popen([guest], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True)


def ask(process, line):
    process.stdin.write(line + '\n')
    process.stdin.flush()
    return process.stdout.readline().strip()


def main(guest, *sizes):
    ranks = [start(guest, rank, len(sizes)) for rank in range(len(sizes))]
    for process, size in zip(ranks, sizes):
        ask(process, f'alloc {int(size) << 20}')
        ask(process, 'free 0')
    print('ready', flush=True)
    sys.stdin.read()
    for process in ranks:
        process.stdin.close()
    sys.exit(max(process.wait() for process in ranks))


main(*sys.argv[1:])
