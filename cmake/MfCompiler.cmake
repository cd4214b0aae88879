# Language level, warnings and sanitizers of our own targets: link to mf_compile_options.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# A Release is -O2, its targets with timed loops (mf_optimize) are -O3.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
set(mf_timed_flags -O3)

# CMAKE_BUILD_TYPE=Check: nothing of the build will run, so host code is not optimized. (nvcc's -O is
# that of the host code, too.)
# Not -O0: there GCC mistakes intrinsics that come after a precompiled header.
set(CMAKE_CXX_FLAGS_CHECK "-Og -DNDEBUG")
set(CMAKE_CUDA_FLAGS_CHECK "-O0 -DNDEBUG")

add_library(mf_compile_options INTERFACE)
target_compile_options(mf_compile_options INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
                            -Woverloaded-virtual>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(MF_WERROR)
  target_compile_options(mf_compile_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror>)
endif()
# Clang's -Wconversion takes in changes of sign, GCC's does not: indices are std::int64_t here.
target_compile_options(mf_compile_options INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:Clang>>:-Wno-sign-conversion>)
# GCC collects garbage while it compiles: a tenth of its time, for a fourth of its memory.
target_compile_options(mf_compile_options INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:--param=ggc-min-heapsize=1000000>)
# fmt 9 takes nvcc for a compiler without constexpr.
target_compile_definitions(mf_compile_options INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:FMT_USE_CONSTEXPR=1>)
# GCC 12's middle end reports false positives on inlined standard-library code under -O3.
target_compile_options(mf_compile_options INTERFACE
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-array-bounds -Wno-maybe-uninitialized>)
# GCC 13 calls references returned from functions that also take a temporary dangling; 14 no longer does.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
  target_compile_options(mf_compile_options INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)
endif()
target_include_directories(mf_compile_options INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})

if(MF_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${MF_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  if(MF_SANITIZE MATCHES "undefined")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=all>)
  endif()
  add_link_options(-fsanitize=${MF_SANITIZE})
endif()

# Counts what an input reaches, and checks the standard library's indices.
if(MF_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "MF_FUZZ=ON: the compiler is ${CMAKE_CXX_COMPILER_ID}; libFuzzer comes with Clang: "
                        "-DCMAKE_CXX_COMPILER=clang++")
  endif()
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
