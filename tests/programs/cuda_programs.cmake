# Unmodified programs on the CUDA runtime and driver. Run without arguments they print the same every time.

add_custom_target(cuda_programs)

# cuda_program(NAME SOURCE file LINKS library...)
function(cuda_program name)
  cmake_parse_arguments(ARG "" "SOURCE" "LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCE})
  tidemark_plain(${name} OUTPUT "${CMAKE_CURRENT_BINARY_DIR}")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE CUDART_NAME="libcudart.so.${CUDAToolkit_VERSION_MAJOR}")
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} Threads::Threads ${CMAKE_DL_LIBS})
  add_dependencies(cuda_programs ${name})
endfunction()

function(cuda_program_library name source)
  add_library(${name} SHARED ${source})
  tidemark_plain(${name} OUTPUT "${CMAKE_CURRENT_BINARY_DIR}")
  set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET default)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
endfunction()

foreach(source
  cuda_almost_full.c
  cuda_async_frees.c
  cuda_capture.c
  cuda_captured.c
  cuda_devices.c
  cuda_early_reuse.c
  cuda_exec.c
  cuda_exit_holding.c
  cuda_fork.c
  cuda_free_async_busy.c
  cuda_hold.c
  cuda_host_function.c
  cuda_refused_async_frees.c
  cuda_scopes.c
  cuda_signals.c
  cuda_sizes.c
  cuda_small_stack.c
  cuda_static_destructors.cpp
  cuda_streams.c
  cuda_threads.cpp
  cuda_waiting_stream.c
  cuda_wrong_frees.c)
  get_filename_component(name "${source}" NAME_WE)
  cuda_program(${name} SOURCE ${source} LINKS Tidemark::cudart)
endforeach()
foreach(name cuda_imports cuda_ipc cuda_null cuda_pointers cuda_reset)
  cuda_program(${name} SOURCE ${name}.c LINKS Tidemark::cudart Tidemark::cuda)
endforeach()
foreach(name
  cuda_answers
  cuda_capture_forms
  cuda_contexts
  cuda_crowded
  cuda_dlmopen
  cuda_driver_sizes
  cuda_elsewhere
  cuda_every_context
  cuda_full_captures
  cuda_graph_room
  cuda_green
  cuda_kinds
  cuda_thread_state
  cuda_unaccounted
  cuda_wrong_arguments)
  cuda_program(${name} SOURCE ${name}.c LINKS Tidemark::cuda)
endforeach()

# Built with a sanitizer, whose own runtime is inside: it looks functions up before anything else runs.
if(NOT TIDEMARK_SANITIZE)
  foreach(sanitizer address thread)
    cuda_program(cuda_sizes_${sanitizer} SOURCE cuda_sizes.c LINKS Tidemark::cudart)
    target_compile_options(cuda_sizes_${sanitizer} PRIVATE -fsanitize=${sanitizer})
    string(SUBSTRING ${sanitizer} 0 1 initial)
    target_link_options(cuda_sizes_${sanitizer} PRIVATE -fsanitize=${sanitizer} -static-lib${initial}san)
  endforeach()
endif()

# With a runtime of their own inside, as nvcc links by default.
foreach(name sizes wrong_frees exit_holding)
  cuda_program(cuda_static_${name} SOURCE cuda_${name}.c LINKS cudart_sim_static)
endforeach()

# On the runtime that has no driver below it. DT_RPATH, so that LD_LIBRARY_PATH doesn't lead to the other runtime.
foreach(name sizes wrong_frees refused_async_frees exit_holding)
  cuda_program(cuda_bare_${name} SOURCE cuda_${name}.c LINKS cudart_bare)
  target_link_options(cuda_bare_${name} PRIVATE "LINKER:--disable-new-dtags")
endforeach()

# Without a library of CUDA on the command line.
foreach(name cuda_dlopen cuda_resolver)
  cuda_program(${name} SOURCE ${name}.c LINKS tidemark::cuda_headers)
  set_target_properties(${name} PROPERTIES BUILD_RPATH "${TIDEMARK_OUTPUT_SIMULATOR}")
  add_dependencies(${name} cuda cudart)
endforeach()
cuda_program(cuda_two_runtimes SOURCE cuda_two_runtimes.c LINKS cudart_sim_static)
add_dependencies(cuda_two_runtimes cudart)
cuda_program(cuda_two_drivers SOURCE cuda_two_drivers.c LINKS cudart_sim_static)
target_compile_definitions(cuda_two_drivers PRIVATE BARE_CUDART="$<TARGET_FILE:cudart_bare>")
add_dependencies(cuda_two_drivers cudart cudart_bare)
cuda_program(cuda_beside_mtia SOURCE cuda_beside_mtia.c LINKS Tidemark::cudart Tidemark::mtia)

cuda_program_library(cuda_plugin cuda_plugin.c)
target_link_libraries(cuda_plugin PRIVATE Tidemark::cudart)
target_compile_options(cuda_plugin PRIVATE -O2)  # calls in tail position become jumps
cuda_program(cuda_plugin_host SOURCE cuda_plugin_host.c)
target_compile_definitions(cuda_plugin_host PRIVATE CUDA_PLUGIN_FILE="$<TARGET_FILE:cuda_plugin>")
add_dependencies(cuda_plugin_host cuda_plugin)

cuda_program_library(cuda_wrapper cuda_wrapper.c)
target_link_libraries(cuda_wrapper PRIVATE tidemark::cuda_headers ${CMAKE_DL_LIBS})
cuda_program(cuda_wrapped SOURCE cuda_wrapped.c LINKS cuda_wrapper Tidemark::cudart)

foreach(script cuda_ctypes.py cuda_driver_ctypes.py cuda_numba.py)
  configure_file(${script} ${script} COPYONLY)
endforeach()
