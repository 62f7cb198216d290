# What the scripts share: where the project is, how they speak, what is installed. Sourced, never run.

project=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
jobs=$(nproc 2>/dev/null || echo 2)

# A clone in another folder finds what this one compiled.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$project} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-true}

say() { printf '%s\n' "$*" >&2; }
die() { say "$(basename "$0"): $*"; exit 1; }

# The root of a CUDA toolkit that CMake will find too and that is new enough (12.5); nothing printed where there is none.
cuda_toolkit() {
  local root header version nvcc_path
  nvcc_path=$(command -v nvcc || true)
  for root in "${CUDAToolkit_ROOT:-}" "${nvcc_path:+$(dirname "$(dirname "$(readlink -f "$nvcc_path")")")}" "${CUDA_PATH:-}" \
              /usr/local/cuda /usr/local/cuda-*; do
    [ -n "$root" ] || continue
    for header in "$root/include/cuda.h" "$root/targets/$(uname -m)-linux/include/cuda.h"; do
      [ -f "$header" ] || continue
      version=$(sed -n 's/^#define CUDA_VERSION  *\([0-9]*\).*/\1/p' "$header" | head -n 1)
      if [ "${version:-0}" -ge 12050 ]; then
        printf '%s\n' "$root"
        return
      fi
    done
  done
}

# configure PRESET [option...]: quiet unless it fails; the MTIA side alone where there is no CUDA toolkit.
configure() {
  local preset=$1 log cuda
  shift
  cuda=$(cuda_toolkit)
  log=$(mktemp)
  if ! (cd "$project" && cmake --preset "$preset" -DTIDEMARK_CUDA="$([ -n "$cuda" ] && echo ON || echo OFF)" \
        ${cuda:+-DCUDAToolkit_ROOT="$cuda"} "$@") >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    die "could not configure preset $preset"
  fi
  rm -f "$log"
}

# build PRESET [target...]: ninja's own lines are shown only when something fails to compile.
build() {
  local preset=$1 log
  shift
  log=$(mktemp)
  if ! (cd "$project" && cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"}) >"$log" 2>&1; then
    grep -v '^\[[0-9]*/[0-9]*\]' "$log" | head -n 200 >&2
    rm -f "$log"
    die "could not build preset $preset"
  fi
  rm -f "$log"
}
