#!/usr/bin/env bash
# Sets up, builds and runs the whole test suite; the last line is ctest's summary over all of it.
#
#   scripts/test.sh [-y]            release: every test; asan and tsan: unit and contract tests; formatting
#   scripts/test.sh --quick [-y]    the release build's tests alone, without the slow ones: under two minutes once built
#   scripts/test.sh --tidy [-y]     the whole, and clang-tidy over every file (long)
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

quick=
tidy=
setup=()
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1 ;;
    --tidy) tidy=1 ;;
    -y|--yes) setup=(-y) ;;
    -h|--help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) say "test.sh: unknown option '$1' (scripts/test.sh --help)"; exit 2 ;;
  esac
  shift
done

"$project/scripts/setup.sh" "${setup[@]}" --for "$([ -n "$tidy" ] && echo all || echo test)"
cd "$project"

passed=0
total=0
failures=
results=$(mktemp)
trap 'rm -f "$results"' EXIT

# check NAME COMMAND...: one that is no ctest test still counts as one.
check() {
  local name=$1
  shift
  say "-- $name"
  total=$((total + 1))
  if "$@"; then passed=$((passed + 1)); else failures+=" $name"; fi
}

# suite PRESET [ctest option...]
suite() {
  local preset=$1 ran failed
  shift
  say "-- $preset: build"
  if ! (configure "$preset" && build "$preset"); then
    failures+=" $preset(build)"
    total=$((total + 1))
    return
  fi
  say "-- $preset: test"
  ctest --preset "$preset" -j "$jobs" --no-tests=error "$@" | tee "$results" || true
  ran=$(sed -n 's/.*tests passed, [0-9]* tests failed out of \([0-9]*\)$/\1/p' "$results")
  failed=$(sed -n 's/.*tests passed, \([0-9]*\) tests failed out of [0-9]*$/\1/p' "$results")
  if [ -z "$ran" ]; then
    failures+=" $preset(no result)"
    total=$((total + 1))
    return
  fi
  total=$((total + ran))
  passed=$((passed + ran - failed))
  [ "$failed" -eq 0 ] || failures+=" $preset:$(sed -n 's/^\t *[0-9]* - \([^ ]*\) (.*/\1/p' "$results" | paste -sd,)"
}

check formatting scripts/lint.sh
if [ -n "$quick" ]; then
  suite release -LE 'slow|clients'
else
  suite release -LE clients
  suite asan
  suite tsan
  if [ -n "$tidy" ]; then
    check clang-tidy scripts/lint.sh --tidy
  fi
fi

[ -z "$failures" ] || say "Failed:$failures"
percent=$((total > 0 ? 100 * passed / total : 0))
printf '%d%% tests passed, %d tests failed out of %d\n' "$percent" $((total - passed)) "$total"
[ -z "$failures" ]
