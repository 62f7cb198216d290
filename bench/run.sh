#!/usr/bin/env bash
# Builds the benchmarks (release) and prints one table: the best of three processes for every figure, with the native calls
# and malloc of the same run beside ours.
#
#   bench/run.sh [--rounds N] [--json FILE]
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../scripts/common.sh"

"$project/scripts/setup.sh" --for test
configure release -DTIDEMARK_BENCH=ON
build release
exec /usr/bin/env python3 -B "$project/bench/table.py" "$project/build/release" "$@"
