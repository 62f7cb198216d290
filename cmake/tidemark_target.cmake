# The only place that sets compiler and linker flags. A room is declared with tidemark_room(), a program or library that
# knows nothing of Tidemark with tidemark_plain(), a test with tidemark_test().

find_package(Threads REQUIRED)

if(TIDEMARK_CCACHE)
  find_program(TIDEMARK_CCACHE_PROGRAM ccache)
  if(TIDEMARK_CCACHE_PROGRAM)
    set(CMAKE_C_COMPILER_LAUNCHER "${TIDEMARK_CCACHE_PROGRAM}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${TIDEMARK_CCACHE_PROGRAM}")
  endif()
endif()

set(TIDEMARK_OUTPUT_LIB "${CMAKE_BINARY_DIR}/lib")
set(TIDEMARK_OUTPUT_BIN "${CMAKE_BINARY_DIR}/bin")
set(TIDEMARK_OUTPUT_SIMULATOR "${CMAKE_BINARY_DIR}/simulator")
set(TIDEMARK_OUTPUT_SAMPLES "${CMAKE_BINARY_DIR}/samples")
set(TIDEMARK_OUTPUT_TESTS "${CMAKE_BINARY_DIR}/tests/bin")

set(_tidemark_warnings -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
                       -Woverloaded-virtual -Wcast-align -Wnull-dereference -Wimplicit-fallthrough)
set(_tidemark_c_warnings -Wall -Wextra -Wshadow -Wconversion)

function(_tidemark_common_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                             C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${_tidemark_warnings}>"
                                           "$<$<COMPILE_LANGUAGE:C>:${_tidemark_c_warnings}>")
  # When it optimises, g++ 12 sees null pointers and overlaps inside its own library that are not there (for
  # overlaps GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" OR TIDEMARK_SANITIZE)
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-null-dereference;-Wno-restrict>")
    endif()
  endif()
  if(TIDEMARK_WERROR)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:C,CXX>:-Werror>")
  endif()
  # GCC 12 sees overlaps in std::string's own insert at -O2 that are not there (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>")
  endif()
  # A fence is what a sequence lock needs, and TSan cannot see it; every access is atomic, so there is nothing to flag.
  if(TIDEMARK_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wno-tsan>")
  endif()
endfunction()

# What runs on a program's own threads, of which some have a stack of 16 KiB (PTHREAD_STACK_MIN) and need most of it for the
# driver: no function may want a tenth of that. Without optimisation, or with a sanitizer, frames are not what users get.
set(_tidemark_small_frames "")
if(NOT TIDEMARK_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(_tidemark_small_frames -Wframe-larger-than=1536)
endif()

# tidemark_small_frames(TARGET [file...]): the whole target, or only these of its sources.
function(tidemark_small_frames target)
  if(ARGN)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS ${_tidemark_small_frames})
  else()
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${_tidemark_small_frames}>")
  endif()
endfunction()

function(_tidemark_sanitize target)
  if(TIDEMARK_SANITIZE)
    set(sanitizers "${TIDEMARK_SANITIZE}")
    set(tests_folder "${PROJECT_SOURCE_DIR}/tests")
    # What tests themselves do is not what is being tested, and looking for undefined behaviour there doubles their build.
    cmake_path(IS_PREFIX tests_folder "${CMAKE_CURRENT_SOURCE_DIR}" is_test)
    if(is_test)
      string(REPLACE ",undefined" "" sanitizers "${sanitizers}")
    endif()
    # no-sanitize-recover: undefined behaviour fails a test instead of only printing.
    target_compile_options(${target} PRIVATE -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${TIDEMARK_SANITIZE})
  endif()
endfunction()

# tidemark_room(NAME SOURCES file... [LINKS target...] [NO_SANITIZE])
# A static library tidemark_NAME with the alias tidemark::NAME; included as "ROOM/FOLDER/file.hpp" from the repository root.
# NO_SANITIZE: for code that runs before a sanitizer's own start-up (shim/hook, see research on ASan and dlsym).
function(tidemark_room name)
  cmake_parse_arguments(ARG "NO_SANITIZE" "" "SOURCES;LINKS" ${ARGN})
  add_library(tidemark_${name} STATIC ${ARG_SOURCES})
  add_library(tidemark::${name} ALIAS tidemark_${name})
  _tidemark_common_flags(tidemark_${name})
  target_include_directories(tidemark_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_compile_options(tidemark_${name} PRIVATE -ffunction-sections -fdata-sections)
  # Two words that are next to each other in a record become one vector, which is then put together and taken apart again:
  # 20 to 40 instructions more for a pair of hits (bench/hit_path.py, g++ 12).
  target_compile_options(tidemark_${name} PRIVATE -fno-tree-slp-vectorize)
  target_link_libraries(tidemark_${name} PUBLIC ${ARG_LINKS})
  if(NOT ARG_NO_SANITIZE)
    _tidemark_sanitize(tidemark_${name})
  endif()
endfunction()

# tidemark_headers(NAME [LINKS target...]): a room that has only headers.
function(tidemark_headers name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  add_library(tidemark_${name} INTERFACE)
  add_library(tidemark::${name} ALIAS tidemark_${name})
  target_compile_features(tidemark_${name} INTERFACE cxx_std_20)
  target_include_directories(tidemark_${name} INTERFACE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(tidemark_${name} INTERFACE ${ARG_LINKS})
endfunction()

# tidemark_plain(TARGET OUTPUT directory): flags for a program or driver that has never heard of Tidemark (samples, simulated
# drivers, tests/programs). The caller made the target.
function(tidemark_plain target)
  cmake_parse_arguments(ARG "NO_SANITIZE" "OUTPUT" "" ${ARGN})
  _tidemark_common_flags(${target})
  if(NOT ARG_NO_SANITIZE)
    _tidemark_sanitize(${target})
  endif()
  if(ARG_OUTPUT)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${ARG_OUTPUT}" LIBRARY_OUTPUT_DIRECTORY "${ARG_OUTPUT}")
  endif()
endfunction()

# tidemark_simulated_driver(TARGET EXPORTS): link flags of a shared library that stands in for a vendor's. It calls its own
# functions even where a preloaded library has the same names, keeps its C++ runtime to itself, and is never unloaded (it has
# threads). A sanitizer needs the program's C++ runtime, so sanitized builds share it.
function(tidemark_simulated_driver target exports)
  get_filename_component(map "${exports}" ABSOLUTE)
  target_link_options(${target} PRIVATE -Wl,-Bsymbolic-functions,-z,defs,-z,nodelete,--exclude-libs,ALL,--gc-sections
                                        "-Wl,--version-script=${map}")
  if(NOT TIDEMARK_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
endfunction()

# tidemark_test(NAME SOURCES file... [LINKS target...] [LABELS label...] [ENVIRONMENT VAR=value...])
# One GoogleTest program; ctest sees one test a program, so that a run of all of them stays short to read.
function(tidemark_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;LABELS;ENVIRONMENT" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  _tidemark_common_flags(${name})
  _tidemark_sanitize(${name})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} GTest::gmock GTest::gtest_main Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${TIDEMARK_OUTPUT_TESTS}")
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  # The fixture looks before and after every run whether the machine is as clean as it was (tests/gates).
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "${ARG_ENVIRONMENT}"
                                          FIXTURES_REQUIRED machine)
endfunction()
