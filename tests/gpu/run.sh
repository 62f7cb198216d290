#!/usr/bin/env bash
# Everything that needs a real GPU, in one go: builds, answers the open questions about its driver, runs the guests native
# and under the shim, and times a pair of cudaMalloc and cudaFree both ways.
#
#   tests/gpu/run.sh [BUILD_DIRECTORY]     default: build/release, built first
# Without a GPU it says so and exits 0. With a compiler of the toolkit (nvcc) the static runtime is tried as well; with
# PyTorch, its own statistics are compared with ours.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
build=${1:-$PWD/build/release}

say() { printf '%s\n' "$*"; }
if ! compgen -G '/dev/nvidia[0-9]*' >/dev/null && [ ! -e /dev/dxg ]; then
  say "no NVIDIA device here (/dev/nvidia*): nothing to do"
  exit 0
fi
if ! ldconfig -p | grep -q 'libcuda\.so\.1'; then
  say "no NVIDIA driver library here (libcuda.so.1): nothing to do"
  exit 0
fi
if [ $# -eq 0 ]; then
  scripts/setup.sh -y --for demo
  cmake --preset release >/dev/null
  cmake --build --preset release
fi

toolkit=$(sed -n 's/^CUDAToolkit_LIBRARY_DIR:[A-Z]*=//p' "$build/CMakeCache.txt" | head -n 1)
for place in "$toolkit" /usr/local/cuda/lib64 /usr/local/cuda/lib; do
  if compgen -G "$place/libcudart.so.*" >/dev/null; then toolkit=$place; break; fi
done
genuine=$(dirname "$(ldconfig -p | sed -n 's/.*libcuda\.so\.1.*=> //p' | head -n 1)")
# The programs' own search path leads to the simulated libraries; this goes before it.
export LD_LIBRARY_PATH=$genuine:$toolkit
library=$build/lib/libtidemark.so
status=0

say "== the driver's answers"
"$build/tests/gpu/gpu_questions" || status=1

say "== native and under the shim"
tests/gpu/on_gpu.sh "$build" "$toolkit" || status=1

say "== a pair of cudaMalloc and cudaFree"
"$build/tests/gpu/gpu_pairs" native || status=1
TIDEMARK_SHM=off LD_PRELOAD=$library "$build/tests/gpu/gpu_pairs" strict || status=1
TIDEMARK_SHM=off TIDEMARK_FREE=fast LD_PRELOAD=$library "$build/tests/gpu/gpu_pairs" fast || status=1

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ]; then
  say "== with the static runtime, as nvcc links"
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  "$nvcc" -x c -o "$scratch/pairs" tests/gpu/pairs.c
  TIDEMARK_KEEP=all TIDEMARK_DIR=$scratch LD_PRELOAD=$library "$scratch/pairs" static || status=1
  TIDEMARK_DIR=$scratch "$build/bin/tidemark" ps || status=1
else
  say "no nvcc here: the static runtime is not tried"
fi

if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
  say "== PyTorch: its reserved bytes and our requested bytes"
  LD_PRELOAD=$library python3 - "$build/bin/tidemark" <<'PYTHON' || status=1
import json
import os
import subprocess
import sys

import torch

blocks = [torch.empty(n << 20, dtype=torch.uint8, device="cuda") for n in (1, 3, 50)]
listing = json.loads(subprocess.check_output([sys.argv[1], "ps", "--json"]))
process = next(p for p in listing["processes"] if p["pid"] == os.getpid())
ours = process["devices"][0]["stats"]["requested_bytes.all.current"]
theirs = torch.cuda.memory_reserved()
print(f"torch {theirs}, tidemark {ours}, pool {process['inner_pool']}")
sys.exit(ours != theirs)
PYTHON
else
  say "no PyTorch with CUDA here: not compared"
fi
exit $status
