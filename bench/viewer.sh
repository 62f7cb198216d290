#!/usr/bin/env bash
# Builds the viewer (release) and measures what looking at 500 processes costs. Half a minute once built; leaves nothing behind.
#
#   bench/viewer.sh [--processes N] [--runs N] [--seconds S]
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../scripts/common.sh"

"$project/scripts/setup.sh" --for test
configure release -DTIDEMARK_BENCH=ON
build release
exec /usr/bin/env python3 -B "$project/bench/viewer.py" "$project/build/release" "$@"
