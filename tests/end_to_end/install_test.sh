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
            include/tidemark/simulator/mtia.h include/tidemark/tidemark.h lib/libtidemark-client.so.1 \
            share/tidemark/python/pyproject.toml share/tidemark/python/tidemark/mtia/__init__.py share/man/man1/tidemark.1 share/man/man1/tidemark-run.1; do
  [ -n "$(find "$root/usr" -path "*/$file")" ] || fail "$file is not installed"
done
for file in libcudart.so. libnvidia-ml.so.; do
  [ ! -e "$build/simulator/libcuda.so.1" ] || [ -n "$(find "$root/usr" -path "*/lib/tidemark/simulator/$file*")" ] ||
    fail "$file of the simulated CUDA is not installed"
done
[ -z "$(find "$root/usr" -name '*.a' -not -name 'libcudart*' -o -name '*_test' -o -name mtia_train)" ] ||
  fail "more is installed than anybody wants"

export TIDEMARK_DIR=$root
out=$("$root/usr/bin/tidemark" run -q -- sh -c 'grep -c libtidemark.so /proc/self/maps >/dev/null && echo preloaded')
[ "$out" = preloaded ] || fail "the installed launcher doesn't find its library"

cat >"$root/CMakeLists.txt" <<'LINES'
cmake_minimum_required(VERSION 3.22)
project(consumer C)
find_package(TidemarkMtia 0.1 REQUIRED)
find_package(TidemarkClient 0.1 REQUIRED)
add_executable(consumer main.c)
target_link_libraries(consumer Tidemark::mtia Tidemark::client)
LINES
cat >"$root/main.c" <<'LINES'
#include <mtia.h>
#include <tidemark/tidemark.h>
int main(void) {
  void* block = 0;
  const int failed = mtiaMalloc(&block, 1000) != MTIA_SUCCESS || tidemark_memory_allocated(0, 0) != 1024;
  return failed || tidemark_export_memory_history(0, "memory.json") != 0 || mtiaFree(block) != MTIA_SUCCESS;
}
LINES
{ cmake -S "$root" -B "$root/consumer" -DCMAKE_PREFIX_PATH="$root/usr" && cmake --build "$root/consumer"; } >"$root/log" 2>&1 ||
  { cat "$root/log"; fail "a program against the installed driver"; }
(cd "$root" && "$root/usr/bin/tidemark" run -q -- "$root/consumer/consumer") || fail "the consumer: exit code $?"
[ -s "$root/memory.json" ] || fail "the client library doesn't find the installed command"
flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$root/usr" -name tidemark-client.pc)") pkg-config --cflags --libs tidemark-client 2>/dev/null ||
  echo "-ltidemark-client")  # where there is no pkg-config
[[ $flags == *-ltidemark-client* ]] || fail "pkg-config: $flags"
asked='import tidemark; print(tidemark.is_loaded(), tidemark.mtia.memory_allocated())'
out=$(PATH=$root/usr/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$(dirname "$(find "$root/usr" -path '*/python/pyproject.toml')") python3 -c "$asked")
[ "$out" = "False 0" ] || fail "the installed Python package: $out"
echo "installed and used"
