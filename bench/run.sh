#!/usr/bin/env bash
# Builds the benchmarks (release), runs all of them and prints their tables: ours beside CUB, malloc and the native calls on
# the same work, what is asked of us and whether it is met. Two minutes once built; leaves nothing behind.
#
#   bench/run.sh [--rounds N] [--seconds S] [--traces DIRECTORY] [--json FILE]
#
# The traces are no part of the project: without them (../shared/traces) their table is left out, which is said.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../scripts/common.sh"

"$project/scripts/setup.sh" --for test
configure release -DTIDEMARK_BENCH=ON
build release
exec /usr/bin/env python3 -B "$project/bench/table.py" "$project/build/release" "$@"
