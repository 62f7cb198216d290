#!/usr/bin/env bash
# What is installed stands alone: the launcher finds its library, and a program is built against the MTIA driver with
# nothing but the installed package.
#
#   install_test.sh BUILD_DIRECTORY
set -euo pipefail
build=$1
fail() { echo "failed: $*"; exit 1; }

root=$(mktemp -d /tmp/tidemark-test.XXXXXX)
trap 'rm -rf "$root"' EXIT
cmake --install "$build" --prefix "$root/usr" >"$root/log" 2>&1 || { cat "$root/log"; fail "install"; }

for file in bin/tidemark lib/tidemark/libtidemark.so lib/tidemark/simulator/libmtia.so.1 \
            include/tidemark/simulator/mtia.h; do
  [ -n "$(find "$root/usr" -path "*/$file")" ] || fail "$file is not installed"
done
[ ! -e "$build/simulator/libcuda.so.1" ] || [ -n "$(find "$root/usr" -path '*/lib/tidemark/simulator/libcudart.so.*')" ] ||
  fail "the simulated CUDA is not installed"
[ -z "$(find "$root/usr" -name '*.a' -not -name 'libcudart*' -o -name '*_test' -o -name mtia_train)" ] ||
  fail "more is installed than anybody wants"

export TIDEMARK_DIR=$root
out=$("$root/usr/bin/tidemark" run -q -- sh -c 'grep -c libtidemark.so /proc/self/maps >/dev/null && echo preloaded')
[ "$out" = preloaded ] || fail "the installed launcher doesn't find its library"

cat >"$root/CMakeLists.txt" <<'LINES'
cmake_minimum_required(VERSION 3.22)
project(consumer C)
find_package(TidemarkMtia REQUIRED)
add_executable(consumer main.c)
target_link_libraries(consumer Tidemark::mtia)
LINES
cat >"$root/main.c" <<'LINES'
#include <mtia.h>
int main(void) { void* block = 0; return mtiaMalloc(&block, 1000) != MTIA_SUCCESS || mtiaFree(block) != MTIA_SUCCESS; }
LINES
{ cmake -S "$root" -B "$root/consumer" -DCMAKE_PREFIX_PATH="$root/usr" && cmake --build "$root/consumer"; } >"$root/log" 2>&1 ||
  { cat "$root/log"; fail "a program against the installed driver"; }
"$root/usr/bin/tidemark" run -q -- "$root/consumer/consumer" || fail "the consumer: exit code $?"
echo "installed and used"
