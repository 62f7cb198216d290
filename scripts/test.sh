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
busy=
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

# Out of what ctest said last.
failed_in_all='s/.*tests passed, \([0-9]*\) tests failed out of [0-9]*$/\1/p'
count_in() { sed -n "$1" "$results"; }
names_of_failed() { sed -n 's/^\t *[0-9]* - \([^ ]*\) (\(Failed\|Timeout\|SEGFAULT\|Subprocess aborted\|Child aborted\).*/\1/p' "$results" | paste -sd,; }

# suite PRESET [ctest option...]
suite() {
  local preset=$1 ran failed suspects
  shift
  say "-- $preset: build"
  if ! (configure "$preset" && build "$preset"); then
    failures+=" $preset(build)"
    total=$((total + 1))
    return
  fi
  say "-- $preset: test"
  ctest --preset "$preset" -j "$jobs" --no-tests=error "$@" | tee "$results" || true
  ran=$(count_in 's/.*tests passed, [0-9]* tests failed out of \([0-9]*\)$/\1/p')
  failed=$(count_in "$failed_in_all")
  if [ -z "$ran" ]; then
    failures+=" $preset(no result)"
    total=$((total + 1))
    return
  fi
  if [ "$failed" -gt 0 ]; then
    # What fails beside others and not alone depends on how busy the machine is: to be mended, but no broken build.
    say "-- $preset: once more what failed, one at a time"
    suspects=$(names_of_failed)
    ctest --preset "$preset" --rerun-failed -j 1 | tee "$results" || true
    failed=$(count_in "$failed_in_all")
    failed=${failed:-1}
    busy+=" $preset:$suspects"
  fi
  total=$((total + ran))
  passed=$((passed + ran - failed))
  [ "$failed" -eq 0 ] || failures+=" $preset:$(names_of_failed)"
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

[ -z "$busy" ] || say "Failed beside others, and run once more alone:$busy"
[ -z "$failures" ] || say "Failed:$failures"
percent=$((total > 0 ? 100 * passed / total : 0))
printf '%d%% tests passed, %d tests failed out of %d\n' "$percent" $((total - passed)) "$total"
[ -z "$failures" ]
