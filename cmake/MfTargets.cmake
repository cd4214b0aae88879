# Helpers that keep each folder's CMakeLists.txt to its sources.
include(GoogleTest)
foreach(list IN ITEMS MF_TEST_TARGETS MF_GPU_TEST_TARGETS MF_BENCHMARK_TARGETS)
  set_property(GLOBAL PROPERTY ${list} "")
endforeach()

# mf_glob(OUT FOLDER ENDING...): FOLDER's files and those of its rooms, less test/ and bench/.
function(mf_glob out folder)
  list(TRANSFORM ARGN PREPEND "${folder}/*" OUTPUT_VARIABLE patterns)
  file(GLOB_RECURSE files RELATIVE ${folder} CONFIGURE_DEPENDS ${patterns})
  list(FILTER files EXCLUDE REGEX "(^|/)(test|bench)/")
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(FILTER files EXCLUDE REGEX "\\.avx(2|512)\\.cpp$")
  endif()
  if(MF_CUDA_ENABLED)
    list(FILTER files EXCLUDE REGEX "\\.nocuda\\.cpp$")
  else()
    list(FILTER files EXCLUDE REGEX "\\.cu(da\\.cpp)?$")
  endif()
  list(TRANSFORM files PREPEND "${folder}/")
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# mf_embed(TARGET JSON NAME): compiles a file in as the string constant mf::NAME, so that the program needs
# no file.
function(mf_embed target json name)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${CMAKE_CURRENT_SOURCE_DIR}/${json} -DOUTPUT=${source} -DNAME=${name}
            -P ${script}
    DEPENDS ${json} ${script} COMMENT "Embedding ${json}" VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()

# mf_add_objects(TARGET OBJECTS): gives a library objects that another target has compiled.
function(mf_add_objects target objects)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "OBJECT_LIBRARY")  # a family's: cannot hold them itself
    mf_add_family_objects(${objects})
  else()
    target_sources(${target} PRIVATE ${objects})
  endif()
endfunction()

# mf_add_family_objects(OBJECTS): gives a family's objects to each program that links mf_algorithms. As
# sources: among the libraries to link, CMake 3.28 (Ubuntu 24.04) names the objects of batched sources
# (mf_batch) as if each source were compiled by itself, and no rule makes those.
function(mf_add_family_objects objects)
  set(program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
  target_sources(mf_algorithms INTERFACE $<${program}:${objects}>)
endfunction()

# mf_optimize(TARGET): the target's loops are timed, so a Release compiles it with mf_timed_flags.
function(mf_optimize target)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:${mf_timed_flags}>)
  set_target_properties(${target} PROPERTIES MF_TIMED TRUE)
endfunction()

# mf_batch(TARGET): CMake joins the target's C++ sources into batches, which parse their headers once.
function(mf_batch target)
  if(MF_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    get_target_property(sources ${target} SOURCES)
    # A build with CUDA links the batches without *.nocuda.cpp. Newer CMakes would also join kernels.
    list(FILTER sources INCLUDE REGEX "\\.(nocuda\\.cpp|cu)$")
    if(sources)
      set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endif()
endfunction()

# mf_precompile(TARGET [TEST]): the target's C++ sources begin with cmake/precompiled_library.hpp (a test's
# with cmake/precompiled_test.hpp). It is parsed once for all targets with the same flags, so call this after
# mf_optimize. Sources still include what they use.
function(mf_precompile target)
  if(NOT MF_PCH)
    return()
  endif()
  set(kind library)
  if("TEST" IN_LIST ARGN)
    set(kind test)
  endif()
  set(owner mf_precompiled_${kind})
  get_target_property(timed ${target} MF_TIMED)
  if(timed)
    set(owner mf_precompiled_timed)
  endif()
  if(NOT TARGET ${owner})
    # A target needs a source; libraries and programs have different flags.
    set(source ${PROJECT_BINARY_DIR}/mf_generated/${owner}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "int main() {}\n")
    if(kind STREQUAL "test")
      add_executable(${owner} EXCLUDE_FROM_ALL ${source})
      target_link_libraries(${owner} PRIVATE GTest::gtest)
    else()
      add_library(${owner} OBJECT EXCLUDE_FROM_ALL ${source})
    endif()
    target_link_libraries(${owner} PRIVATE mf_compile_options fmt::fmt)
    if(timed)
      mf_optimize(${owner})
    endif()
    target_precompile_headers(${owner} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/precompiled_${kind}.hpp)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# mf_add_test(NAME SOURCES... LIBS...): one GoogleTest program; ctest runs its cases one by one.
# LABELS gpu marks tests that need a device. ALONE takes a filter of GoogleTest: tests that measure times or
# the free memory of the device, beside which no other test runs.
function(mf_add_test name)
  cmake_parse_arguments(arg "" "ALONE" "SOURCES;LIBS;LABELS;DEFINITIONS" ${ARGN})
  if(NOT MF_BUILD_TESTS)
    return()
  endif()
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE mf_compile_options ${arg_LIBS} GTest::gtest GTest::gtest_main)
  mf_precompile(${name} TEST)
  target_compile_definitions(${name} PRIVATE MF_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ${arg_DEFINITIONS})
  set(properties DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 120)
  if(arg_LABELS)
    list(APPEND properties LABELS ${arg_LABELS})
  endif()
  if(arg_ALONE)
    gtest_discover_tests(${name} TEST_FILTER "${arg_ALONE}" ${properties} RUN_SERIAL TRUE)
    gtest_discover_tests(${name} TEST_FILTER "-${arg_ALONE}" TEST_LIST ${name}_others ${properties})
  else()
    gtest_discover_tests(${name} ${properties})
  endif()
  set_property(GLOBAL APPEND PROPERTY MF_TEST_TARGETS ${name})
  if("gpu" IN_LIST arg_LABELS)
    set_property(GLOBAL APPEND PROPERTY MF_GPU_TEST_TARGETS ${name})
  endif()
endfunction()

# mf_add_benchmark(NAME SOURCES... LIBS...): one Google Benchmark program, where the library is there. Its
# output names the commit.
function(mf_add_benchmark name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  if(NOT MF_BUILD_BENCHMARKS OR NOT benchmark_FOUND)
    return()
  endif()
  if(NOT TARGET mf_bench_commit)
    add_library(mf_bench_commit OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/testing/bench_commit.cpp)
    target_link_libraries(mf_bench_commit PRIVATE mf_compile_options benchmark::benchmark)
    add_dependencies(mf_bench_commit mf_build_info)
  endif()
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES} $<TARGET_OBJECTS:mf_bench_commit>)
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
