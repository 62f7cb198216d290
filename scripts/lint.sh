#!/usr/bin/env bash
# The checks that need no run: formatting, and with --tidy the static analysis.
#
#   scripts/lint.sh             clang-format over every source; changes nothing
#   scripts/lint.sh --fix       the same, and rewrites what is not in form
#   scripts/lint.sh --tidy [--seconds N] [file...]
#                               clang-tidy over the files named, else over those that differ from the main branch's last
#                               commit, else over all; needs a configured build/release. After N seconds it starts no more
#                               files and says how many are left.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
cd "$project"

tool() { command -v "$1-14" || command -v "$1" || die "no $1: scripts/setup.sh --for all installs it"; }

sources() {
  git ls-files --cached --others --exclude-standard -- '*.hpp' '*.cpp' '*.h' '*.c' |
    while read -r file; do [ -f "$file" ] && printf '%s\n' "$file"; done
}

# Names each file that is not in form once, with the first place.
check_format() {
  local found
  found=$(sources | xargs -r -P "$jobs" -n 40 "$(tool clang-format)" --dry-run -Werror 2>&1 | grep ': error:' | sort -u -t: -k1,1 || true)
  if [ -n "$found" ]; then
    say "$found"
    die "not in form; scripts/lint.sh --fix mends it"
  fi
}

# The translation units to look at: those with a compile command of their own.
units() {
  local known='import json; print("\n".join(sorted({unit["file"] for unit in json.load(open("build/release/compile_commands.json"))})))'
  /usr/bin/env python3 -c "$known" | sed "s|^$project/||" | grep -v '^build/' | grep '\.cpp$'
}

tidy() {
  local seconds=100000 files=() all changed end left=0 failed=0
  while [ $# -gt 0 ]; do
    case $1 in
      --seconds) seconds=$2; shift ;;
      *) files+=("$1") ;;
    esac
    shift
  done
  [ -f build/release/compile_commands.json ] || die "configure first: cmake --preset release"
  all=$(units)
  if [ ${#files[@]} -eq 0 ]; then
    changed=$(git diff --name-only HEAD -- '*.cpp' '*.hpp')
    if [ -n "$changed" ]; then
      mapfile -t files < <(grep -Fx -f <(printf '%s\n' "$changed") <<<"$all" || true)
    else
      mapfile -t files <<<"$all"
    fi
  fi
  [ ${#files[@]} -gt 0 ] || return 0

  end=$((SECONDS + seconds))
  local log=() running=0 file out
  out=$(mktemp -d)
  trap 'rm -rf "$out"' RETURN
  one() { "$(tool clang-tidy)" -p build/release --quiet "$1" >"$2" 2>/dev/null || touch "$2.failed"; }
  for file in "${files[@]}"; do
    if [ $SECONDS -ge $end ]; then
      left=$((left + 1))
      continue
    fi
    if [ $running -ge "$jobs" ]; then wait -n || true; running=$((running - 1)); fi
    one "$file" "$out/${file//\//+}" &
    running=$((running + 1))
  done
  wait
  for file in "$out"/*.failed; do
    [ -e "$file" ] || continue
    failed=1
    cat "${file%.failed}"
  done
  [ $left -eq 0 ] || say "lint.sh: out of time, $left of ${#files[@]} files not looked at"
  [ $failed -eq 0 ] || die "clang-tidy has findings (above)"
}

case ${1:-} in
  '') check_format ;;
  --fix) sources | xargs -r "$(tool clang-format)" -i ;;
  --tidy) shift; tidy "$@" ;;
  -h|--help) sed -n '2,9s/^# \{0,1\}//p' "$0" ;;
  *) say "lint.sh: unknown option '$1' (scripts/lint.sh --help)"; exit 2 ;;
esac
