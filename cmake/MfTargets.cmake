# Helpers that keep each folder's CMakeLists.txt to its sources.
include(GoogleTest)
foreach(list IN ITEMS MF_TEST_TARGETS MF_GPU_TEST_TARGETS MF_BENCHMARK_TARGETS)
  set_property(GLOBAL PROPERTY ${list} "")
endforeach()

# mf_add_test(NAME SOURCES... LIBS...): one GoogleTest program; ctest runs its cases one by one.
# LABELS gpu marks tests that need a device.
function(mf_add_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS;LABELS;DEFINITIONS" ${ARGN})
  if(NOT MF_BUILD_TESTS)
    return()
  endif()
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE mf_compile_options ${arg_LIBS} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE MF_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ${arg_DEFINITIONS})
  set(properties TIMEOUT 120)
  if("gpu" IN_LIST arg_LABELS)
    # Tests of clocks want the device for themselves.
    list(APPEND properties LABELS gpu RESOURCE_LOCK gpu)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES ${properties})
  set_property(GLOBAL APPEND PROPERTY MF_TEST_TARGETS ${name})
  if("gpu" IN_LIST arg_LABELS)
    set_property(GLOBAL APPEND PROPERTY MF_GPU_TEST_TARGETS ${name})
  endif()
endfunction()

# mf_add_benchmark(NAME SOURCES... LIBS...): one Google Benchmark program, where the library is there.
function(mf_add_benchmark name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  if(NOT MF_BUILD_BENCHMARKS OR NOT benchmark_FOUND)
    return()
  endif()
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE mf_compile_options ${arg_LIBS} benchmark::benchmark_main)
  set_property(GLOBAL APPEND PROPERTY MF_BENCHMARK_TARGETS ${name})
endfunction()

# Targets `tests`, `gpu_tests` and `benchmarks` build what the default target leaves out.
function(mf_finish_targets)
  get_property(tests GLOBAL PROPERTY MF_TEST_TARGETS)
  add_custom_target(tests DEPENDS mfbench ${tests})
  get_property(gpu_tests GLOBAL PROPERTY MF_GPU_TEST_TARGETS)
  add_custom_target(gpu_tests DEPENDS ${gpu_tests})
  get_property(benches GLOBAL PROPERTY MF_BENCHMARK_TARGETS)
  add_custom_target(benchmarks DEPENDS ${benches})
endfunction()
