#!/usr/bin/env bash
# Shows what Tidemark does, on simulated devices, in under a minute once built: two programs that know nothing of it run under
# it, are watched from outside, and have a peak reset while they run. Leaves nothing behind.
#
#   scripts/demo.sh [-y]
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

setup=()
case ${1:-} in
  '') ;;
  -y|--yes) setup=(-y) ;;
  -h|--help) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 0 ;;
  *) say "demo.sh: unknown option '$1' (scripts/demo.sh --help)"; exit 2 ;;
esac
"$project/scripts/setup.sh" "${setup[@]}" --for demo
cd "$project"

targets=(tidemark_shim tidemark mtia mtia_train)
[ -z "$(cuda_toolkit)" ] || targets+=(cuda cudart cuda_churn)
[ -e build/release/bin/tidemark ] || say "Building (a few minutes the first time) ..."
configure release
build release "${targets[@]}"

# A directory of the demo's own: whatever else runs on this machine under Tidemark is neither shown nor touched.
TIDEMARK_DIR=$(mktemp -d /tmp/tidemark-demo.XXXXXX)
export TIDEMARK_DIR LD_LIBRARY_PATH=$project/build/release/simulator
tidemark=build/release/bin/tidemark
pids=()

clean_up() {
  trap '' INT TERM
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$TIDEMARK_DIR"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

bold=
plain=
if [ -t 1 ]; then
  bold=$'\e[1m'
  plain=$'\e[0m'
fi
title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() { printf '%s$ %s%s\n' "$bold" "${*/#$tidemark/tidemark}" "$plain"; "$@"; }

# start NAME LABEL COMMAND...: in the background, its output out of the way.
start() {
  local label=$1
  shift
  TIDEMARK_LABEL=$label "$tidemark" run -q -- "$@" >"$TIDEMARK_DIR/$label.out" 2>&1 &
  pids+=($!)
}

# The bytes of one of the stats of the process of that label, for a line in words.
stat_of() {
  "$tidemark" ps --json | /usr/bin/env python3 -c '
import json, sys
found = [d["stats"][key] for p in json.load(sys.stdin)["processes"] if p["label"] == sys.argv[1] for d in p["devices"] for key in sys.argv[2:]]
print(*[f"{value / 2**20:.1f}" for value in found] or ["-"])' "$@"
}

title "Two programs that know nothing of Tidemark, on simulated devices:"
echo '$ tidemark run -- mtia_train      trains a small transformer: weights stay, activations come and go'
start train build/release/samples/mtia_train --scale 0.5 --steps 120 --seconds 30
if [ -x build/release/samples/cuda_churn ] && [ ${#targets[@]} -gt 4 ]; then
  echo '$ tidemark run -- cuda_churn      calls cudaMalloc and cudaFree in a loop'
  start churn build/release/samples/cuda_churn
fi
echo "Watch them yourself, in another terminal, for the next ten seconds, as long as the programs run:"
echo "  $tidemark top --dir $TIDEMARK_DIR"

title "Seen from outside, while they run:"
for frame in 1 2 3; do
  sleep 2
  [ "$frame" -gt 1 ] || printf '%s$ tidemark ps%s\n' "$bold" "$plain"
  "$tidemark" ps
  echo
done

title "A peak of their whole life says little about the phase they are in. Reset it from outside, without touching them:"
# The training's first phase is its largest while parameters are made; afterwards it breathes.
read -r peak now <<<"$(stat_of train allocated_bytes.all.peak allocated_bytes.all.current)"
echo "mtia_train: allocated now $now MiB, peak $peak MiB"
show "$tidemark" reset-peak train
read -r peak now <<<"$(stat_of train allocated_bytes.all.peak allocated_bytes.all.current)"
echo "mtia_train: allocated now $now MiB, peak $peak MiB: it fell to what is allocated"
sleep 2
echo "Two seconds later, the next training steps have raised it again:"
"$tidemark" ps

running=0
for pid in "${pids[@]}"; do ! kill -0 "$pid" 2>/dev/null || running=$((running + 1)); done
[ $running -eq ${#pids[@]} ] || { cat "$TIDEMARK_DIR"/*.out >&2; die "a program ended before its time (its output is above)"; }
title "Still running: $running of ${#pids[@]} programs; the demo ends them now. Your own program, in this directory:"
cat <<LINES
  build/release/bin/tidemark run -- ./your-program        # or, without the launcher:
  LD_PRELOAD=$project/build/release/lib/libtidemark.so ./your-program
  build/release/bin/tidemark top                          # in another terminal
  build/release/bin/tidemark reset-peak PID               # peak := allocated now
LINES
