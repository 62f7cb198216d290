# The simulated CUDA: in one process with the clock standing still, and as whole programs.

set(_topics arrays captures contexts external_memory graphs managed memory pools sharing streams virtual_memory)
if(CUDAToolkit_VERSION VERSION_GREATER_EQUAL 12.5)
  list(APPEND _topics green)
endif()
foreach(_topic ${_topics})
  tidemark_test(cuda_${_topic}_test SOURCES cuda_${_topic}_test.cpp LINKS Tidemark::cuda
                ENVIRONMENT CUDA_SIM_CLOCK=manual)
endforeach()

string(JOIN "," _failing cuMemAllocManaged:1 cuMemCreate:1 cuMemAddressReserve:1 cuArray3DCreate:1
       cuMipmappedArrayCreate:1 cuMemRelease:1=800 cuMemUnmap:1=101 cuArrayDestroy:1 cuGraphLaunch:1)
tidemark_test(cuda_faults_test SOURCES cuda_faults_test.cpp LINKS Tidemark::cuda
              ENVIRONMENT CUDA_SIM_CLOCK=manual CUDA_SIM_FAIL=${_failing})

tidemark_test(cuda_runtime_test SOURCES cuda_runtime_test.cpp cuda_per_thread.cpp LINKS Tidemark::cudart Tidemark::cuda
              ENVIRONMENT CUDA_SIM_CLOCK=manual)

tidemark_test(cuda_resolver_test SOURCES cuda_resolver_test.cpp LINKS Tidemark::cuda ${CMAKE_DL_LIBS})
add_dependencies(cuda_resolver_test cuda_sim_generate)
target_include_directories(cuda_resolver_test PRIVATE "${PROJECT_BINARY_DIR}/simulator/cuda/generated")

set(_runtime_name "libcudart.so.${CUDAToolkit_VERSION_MAJOR}")
set(_toolkit_runtime "")
if(TIDEMARK_TOOLKIT_CUDART)
  set(_toolkit_runtime "${TIDEMARK_TOOLKIT_CUDART}")
endif()
find_file(TIDEMARK_TOOLKIT_CUDA_STUB NAMES libcuda.so HINTS "${CUDAToolkit_LIBRARY_DIR}/stubs" NO_DEFAULT_PATH
          DOC "The toolkit's driver stub, whose names the simulated driver must all have")
set(_toolkit_stub "")
if(TIDEMARK_TOOLKIT_CUDA_STUB)
  set(_toolkit_stub "${TIDEMARK_TOOLKIT_CUDA_STUB}")
endif()
list(GET CUDAToolkit_INCLUDE_DIRS 0 _include)
tidemark_test(cuda_exports_test SOURCES cuda_exports_test.cpp LINKS tidemark::test_support)
add_dependencies(cuda_exports_test cuda cudart cudart_bare)
target_compile_definitions(cuda_exports_test PRIVATE
  CUDA_LIBRARIES="${TIDEMARK_OUTPUT_SIMULATOR}"
  CUDA_RUNTIME_NAME="${_runtime_name}"
  CUDA_TOOLKIT_RUNTIME="${_toolkit_runtime}"
  CUDA_TOOLKIT_STUB="${_toolkit_stub}"
  CUDA_INCLUDE="${_include}"
  CUDA_PYTHON="${Python3_EXECUTABLE}"
  CUDA_GENERATOR="${PROJECT_SOURCE_DIR}/simulator/cuda/generate/generate.py")

# Not sanitized: the toolkit's runtime is to meet the same driver, and isn't either.
set(_recording "${CMAKE_CURRENT_BINARY_DIR}/recording")
add_library(cuda_recording_driver SHARED cuda_recording_driver.cpp)
tidemark_plain(cuda_recording_driver NO_SANITIZE OUTPUT "${_recording}")
set_target_properties(cuda_recording_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1)
add_executable(cuda_asking_program cuda_asking_program.cpp)
tidemark_plain(cuda_asking_program OUTPUT "${_recording}")
target_link_libraries(cuda_asking_program PRIVATE ${CMAKE_DL_LIBS})
tidemark_test(cuda_questions_test SOURCES cuda_questions_test.cpp LINKS tidemark::test_support)
add_dependencies(cuda_questions_test cudart cuda_recording_driver cuda_asking_program)
target_compile_definitions(cuda_questions_test PRIVATE
  CUDA_ASKING_PROGRAM="$<TARGET_FILE:cuda_asking_program>"
  CUDA_RECORDING_DRIVER="${_recording}"
  CUDA_SIMULATED_RUNTIME="${TIDEMARK_OUTPUT_SIMULATOR}/${_runtime_name}"
  CUDA_TOOLKIT_RUNTIME="${_toolkit_runtime}")

tidemark_test(cuda_programs_test SOURCES cuda_programs_test.cpp LINKS tidemark::test_support)
add_dependencies(cuda_programs_test cuda_programs cuda_churn)
target_compile_definitions(cuda_programs_test PRIVATE
  CUDA_PROGRAMS="${PROJECT_BINARY_DIR}/tests/programs"
  CUDA_LIBRARIES="${TIDEMARK_OUTPUT_SIMULATOR}"
  CUDA_CHURN="${TIDEMARK_OUTPUT_SAMPLES}/cuda_churn")

tidemark_test(nvml_test SOURCES nvml_test.cpp LINKS Tidemark::cuda nvidia-ml tidemark::sim_core
              ENVIRONMENT CUDA_SIM_DEVICES=2 CUDA_SIM_MEMORY=64MiB CUDA_SIM_SHARED=tidemark-nvml-test)
