#!/usr/bin/env bash
# The main job on a real GPU: the guest on the genuine CUDA driver and runtime, native and under the shim.
#
#   on_gpu.sh BUILD_DIRECTORY CUDA_RUNTIME_DIRECTORY
# Exits 77 (skipped) with the reason where there is no GPU. Never counts on the GPU being ours alone.
set -euo pipefail
build=$1
runtime=$2

skip() { echo "skipped: $*"; exit 77; }
fail() { echo "failed: $*"; exit 1; }

compgen -G '/dev/nvidia[0-9]*' >/dev/null || [ -e /dev/dxg ] || skip "no NVIDIA device here (/dev/nvidia*)"
ldconfig -p | grep -q 'libcuda\.so\.1' || skip "no NVIDIA driver library here (libcuda.so.1)"
[ -e "$runtime/libcudart.so.13" ] || skip "no CUDA runtime 13 in $runtime"

# Neither simulated library may be found: the guests' own search path leads to them, LD_LIBRARY_PATH goes before it.
genuine=$(dirname "$(ldconfig -p | sed -n 's/.*libcuda\.so\.1.*=> //p' | head -n 1)")
export LD_LIBRARY_PATH=$genuine:$runtime
TIDEMARK_DIR=$(mktemp -d)
export TIDEMARK_DIR
guest=
trap '[ -z "$guest" ] || kill "$guest" 2>/dev/null || true; rm -rf "$TIDEMARK_DIR"' EXIT

tidemark=$build/bin/tidemark
library=$build/lib/libtidemark.so

# value PID KEY: one of the stats of the process's first device.
value() {
  "$tidemark" ps --json | python3 -c '
import json, sys
process = next(p for p in json.load(sys.stdin)["processes"] if p["pid"] == int(sys.argv[1]))
print(process["devices"][0]["stats"][sys.argv[2]])' "$1" "$2"
}

expect() { [ "$2" = "$3" ] || fail "$1: expected $2, got $3"; }

for name in guest_cuda_runtime guest_cuda_driver guest_cuda_by_handle; do
  program=$build/tests/bin/$name
  script='alloc 1000\nalloc 3145728\nwrite 1 7 4096\nread 1 4096\nfree 0\nfree 0\nfree-in 1 512\nfree 1\npairs 1000 65536\n'
  # Addresses differ from run to run.
  native=$(printf "$script" | "$program" | sed 's/0x[0-9a-f]*//')
  shimmed=$(printf "$script" | LD_PRELOAD=$library "$program" | sed 's/0x[0-9a-f]*//')
  expect "$name: answers" "$native" "$shimmed"

  coproc GUEST { LD_PRELOAD=$library exec "$program"; }
  guest=$GUEST_PID
  say() { echo "$1" >&"${GUEST[1]}"; read -r answer <&"${GUEST[0]}"; }
  say 'alloc 1000'
  say 'alloc 3145728'
  expect "$name: requested" 3146728 "$(value "$guest" requested_bytes.all.current)"
  expect "$name: allocated" $((1024 + 4 * 1048576)) "$(value "$guest" allocated_bytes.all.current)"
  expect "$name: reserved" $((6 * 1048576)) "$(value "$guest" reserved_bytes.all.current)"
  say 'free 1'
  "$tidemark" reset-peak "$guest" || fail "$name: reset-peak"
  expect "$name: peak after the reset" 1024 "$(value "$guest" allocated_bytes.all.peak)"
  # Work still under way when its block is freed must not reach the block's next owner.
  say 'alloc 67108864'
  say 'fill 2 1 67108864'
  say 'free 2'
  say 'alloc 67108864'
  say 'write 3 2 67108864'
  say 'sync'
  say 'read 3 67108864'
  expect "$name: contents after reuse" '2 67108864' "$answer"
  say 'exit 0' || true
  wait "$guest" || fail "$name: exit code $?"
  guest=
  expect "$name: files left" '' "$(ls -A "$TIDEMARK_DIR")"
  echo "$name: as expected"
done
