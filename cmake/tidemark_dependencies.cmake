# Everything we take from outside, in one place, each with the Debian package that brings it.

# A sentence instead of a page of CMake output: what to install, and how to go on without it.
function(_tidemark_require name package)
  if(NOT ${name}_FOUND AND NOT TARGET ${name})
    message(FATAL_ERROR "Tidemark needs ${name}: install ${package} (scripts/setup.sh does it).")
  endif()
endfunction()

if(TIDEMARK_CUDA)
  find_package(CUDAToolkit 12.5 QUIET)  # cuCtxRecordEvent is in its headers
  if(NOT CUDAToolkit_FOUND)
    message(FATAL_ERROR "No CUDA toolkit found: install one (its headers are enough, for example NVIDIA's package "
                        "cuda-toolkit-13-0) or configure with -DTIDEMARK_CUDA=OFF, which builds the MTIA side alone.")
  endif()
  # The headers only: nothing of ours links a library of the toolkit.
  add_library(tidemark_cuda_headers INTERFACE)
  add_library(tidemark::cuda_headers ALIAS tidemark_cuda_headers)
  target_include_directories(tidemark_cuda_headers SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
endif()

# NVTX is headers alone: in a CUDA toolkit, or by themselves. Only tests and benchmarks are compiled with them.
find_path(TIDEMARK_NVTX_HEADERS nvtx3/nvToolsExt.h HINTS ${CUDAToolkit_INCLUDE_DIRS}
          DOC "Where NVTX 3 is; without it nothing is tested of a program's own ranges")
if(NOT TIDEMARK_NVTX_HEADERS)
  message(STATUS "No nvtx3/nvToolsExt.h: no test and no benchmark of NVTX ranges (NVIDIA's package cuda-nvtx).")
endif()

find_package(Boost 1.74 QUIET)
_tidemark_require(Boost libboost-dev)
find_package(CLI11 QUIET)
_tidemark_require(CLI11 libcli11-dev)
find_package(fmt QUIET)
_tidemark_require(fmt libfmt-dev)
find_package(nlohmann_json QUIET)
_tidemark_require(nlohmann_json nlohmann-json3-dev)
set(CURSES_NEED_WIDE ON)
find_package(Curses QUIET)
_tidemark_require(Curses libncurses-dev)
# Names for the addresses of stacks, in the viewer alone.
find_path(TIDEMARK_LIBDW_INCLUDE elfutils/libdwfl.h DOC "Where the headers of elfutils' libdw are")
find_library(TIDEMARK_LIBDW dw DOC "elfutils' libdw")
find_library(TIDEMARK_LIBELF elf DOC "elfutils' libelf")
if(NOT TIDEMARK_LIBDW_INCLUDE OR NOT TIDEMARK_LIBDW OR NOT TIDEMARK_LIBELF)
  message(FATAL_ERROR "Tidemark needs libdw: install libdw-dev (scripts/setup.sh does it).")
endif()
find_package(Python3 QUIET COMPONENTS Interpreter)
_tidemark_require(Python3 python3)

if(TIDEMARK_TESTS)
  find_package(GTest QUIET)
  _tidemark_require(GTest "libgtest-dev and libgmock-dev")
endif()
if(TIDEMARK_BENCH)
  find_package(benchmark QUIET)
  _tidemark_require(benchmark libbenchmark-dev)
endif()
