# find_package(mfbench): algorithms of your own for the mfbench that stands beside this file, as plugins
# (docs/adding-an-algorithm.md).
#
#   mfbench_plugin(NAME SOURCES...)    the shared object NAME.so
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(nlohmann_json)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/plugin_abi.cmake)
set(mfbench_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})
get_filename_component(mfbench_INCLUDE_DIR ${CMAKE_CURRENT_LIST_DIR}/../../../include/mfbench ABSOLUTE)

string(REGEX MATCH "^[0-9]+" mfbench_major "${CMAKE_CXX_COMPILER_VERSION}")
if(NOT mfbench_COMPILER STREQUAL "${CMAKE_CXX_COMPILER_ID} ${mfbench_major}")
  message(FATAL_ERROR "mfbench was compiled by ${mfbench_COMPILER}, and the compiler is ${CMAKE_CXX_COMPILER_ID} "
                      "${mfbench_major}: classes may be laid out differently; name the other by CMAKE_CXX_COMPILER")
endif()

function(mfbench_plugin name)
  add_library(${name} MODULE ${ARGN} ${mfbench_CMAKE_DIR}/plugin.cpp)
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
                                           CUDA_STANDARD 20)
  target_include_directories(${name} SYSTEM PRIVATE ${mfbench_INCLUDE_DIR})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE MF_PLUGIN_ABI=${mfbench_ABI}
                             $<$<COMPILE_LANGUAGE:CUDA>:FMT_USE_CONSTEXPR=1>)
  target_link_libraries(${name} PRIVATE fmt::fmt nlohmann_json::nlohmann_json Threads::Threads)
  if(CMAKE_CUDA_COMPILER)
    find_package(CUDAToolkit REQUIRED)
    target_link_libraries(${name} PRIVATE CUDA::cudart)
  endif()
endfunction()
