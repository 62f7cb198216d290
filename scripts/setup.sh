#!/usr/bin/env bash
# Finds what is missing to build Tidemark and installs it.
#
#   scripts/setup.sh [-y] [--for demo|test|all]
#
# On a terminal it asks once (-y: doesn't); without a terminal it installs. As root, or through sudo; where neither works it
# prints the one command to run. Where nothing is missing it says nothing and takes no time.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

# Debian package, who needs it, and what shows that it is there: a command, or a file below /usr. The demo configures the
# same build directory as the tests, so it needs their libraries, too.
packages='
build-essential      demo  g++
cmake                demo  cmake
ninja-build          demo  ninja
ccache               demo  ccache
libboost-dev         demo  include/boost/interprocess/mapped_region.hpp
libcli11-dev         demo  include/CLI/CLI.hpp
libfmt-dev           demo  include/fmt/format.h
nlohmann-json3-dev   demo  include/nlohmann/json.hpp
libncurses-dev       demo  include/ncursesw/curses.h
libdw-dev            demo  include/elfutils/libdwfl.h
python3              demo  bin/python3
git                  test  git
binutils             test  readelf
libgtest-dev         demo  include/gtest/gtest.h
libgmock-dev         demo  include/gmock/gmock.h
libbenchmark-dev     demo  include/benchmark/benchmark.h
valgrind             test  valgrind
clang-format-14      test  bin/clang-format-14
tmux                 test  tmux
zsh                  test  zsh
fish                 test  fish
python3-numba        test  lib/python3/dist-packages/numba
ffmpeg               test  ffmpeg
libjemalloc2         test  share/doc/libjemalloc2
prometheus           test  promtool
python3-prometheus-client test lib/python3/dist-packages/prometheus_client
clang                all   clang++
clang-tidy-14        all   bin/clang-tidy-14
gdb                  all   gdb
'

yes=
purpose=all
while [ $# -gt 0 ]; do
  case $1 in
    -y|--yes) yes=1 ;;
    --for) purpose=${2:-}; shift ;;
    -h|--help) sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) say "setup.sh: unknown option '$1' (scripts/setup.sh --help)"; exit 2 ;;
  esac
  shift
done
case $purpose in
  demo) wanted=' demo ' ;;
  test) wanted=' demo test ' ;;
  all) wanted=' demo test all ' ;;
  *) say "setup.sh: --for takes demo, test or all, not '$purpose'"; exit 2 ;;
esac

is_there() {
  case $1 in
    */*) [ -e "/usr/$1" ] || [ -e "/usr/local/$1" ] ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

missing=()
while read -r package group probe; do
  [ -n "$package" ] || continue
  [[ $wanted == *" $group "* ]] || continue
  is_there "$probe" || missing+=("$package")
done <<<"$packages"

if [ -z "$(cuda_toolkit)" ]; then
  say "No CUDA toolkit (12.5 or newer) found: going on with the MTIA side alone (NVIDIA's package cuda-toolkit-13-0 brings one)."
fi
[ ${#missing[@]} -gt 0 ] || exit 0

install="apt-get install -y --no-install-recommends ${missing[*]}"
say "Missing: ${missing[*]}"

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    as_root=(sudo)
  else
    say "Install it as root, then run this again:"
    say "  $install"
    exit 1
  fi
fi
if ! command -v apt-get >/dev/null; then
  say "There is no apt-get here. Install what brings these (Debian 12's names); there the command is:"
  say "  $install"
  exit 1
fi
if [ -t 0 ] && [ -z "$yes" ]; then
  read -r -p "Install with '${as_root[*]:+sudo }$install'? [Y/n] " answer </dev/tty
  case $answer in
    ''|y|Y|yes) ;;
    *) say "Nothing installed. The command is: ${as_root[*]:+sudo }$install"; exit 1 ;;
  esac
fi

# `env`, because sudo drops the environment.
apt() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
try_install() { apt install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1; }

# The lists of a minimal container are empty, those of an old one name versions that are gone: update, but only where needed.
say "Installing ${#missing[@]} packages ..."
if ! try_install; then
  apt update >"$log" 2>&1 || { tail -n 20 "$log" >&2; die "apt-get update failed; no network?"; }
  try_install || { tail -n 20 "$log" >&2; die "could not install; the command is: ${as_root[*]:+sudo }$install"; }
fi
say "Installed."
# The tests start one of their own.
if [[ " ${missing[*]} " == *" prometheus "* && -d /run/systemd/system ]]; then
  say "Debian runs Prometheus as a service, which nothing here needs: systemctl disable --now prometheus ends it."
fi
