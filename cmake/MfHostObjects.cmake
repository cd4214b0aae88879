# No source without CUDA asks whether the build has it: such sources are *.cu and *.cuda.cpp, their
# counterparts of builds without CUDA *.nocuda.cpp. So a build with CUDA can link what one without it
# has compiled of the others.
set(MF_HOST_BUILD "" CACHE PATH
    "A build folder without CUDA whose objects a build with CUDA links instead of compiling those sources again")

# Refuses a MF_HOST_BUILD whose objects do not fit this build.
function(mf_check_host_build)
  if(NOT EXISTS ${MF_HOST_BUILD}/CMakeCache.txt)
    message(FATAL_ERROR "MF_HOST_BUILD is '${MF_HOST_BUILD}', which has no CMakeCache.txt; expected a build folder")
  endif()
  set(same CMAKE_HOME_DIRECTORY CMAKE_CXX_COMPILER MF_SANITIZE)
  load_cache(${MF_HOST_BUILD} READ_WITH_PREFIX host_ ${same})
  foreach(name IN LISTS same)
    if(NOT "${host_${name}}" STREQUAL "${${name}}")
      message(FATAL_ERROR "MF_HOST_BUILD=${MF_HOST_BUILD}: its ${name} is '${host_${name}}', "
                          "this build's is '${${name}}'; expected the same")
    endif()
  endforeach()
  if(NOT EXISTS ${MF_HOST_BUILD}/mf_objects)
    message(FATAL_ERROR "MF_HOST_BUILD=${MF_HOST_BUILD}: a build with CUDA, or one that is not configured; "
                        "expected one with MF_WITH_CUDA=OFF")
  endif()
endfunction()

# mf_share_host_objects(TARGET): in a build without CUDA, tells where the target's objects are; in one
# with MF_HOST_BUILD, the target takes them from there.
function(mf_share_host_objects target)
  if(NOT MF_CUDA_ENABLED)
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/mf_objects/${target}.txt
         CONTENT "$<JOIN:$<TARGET_OBJECTS:${target}>,\n>\n")
    return()
  elseif(NOT MF_HOST_BUILD)
    return()
  endif()
  set(names ${MF_HOST_BUILD}/mf_objects/${target}.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${names})
  file(STRINGS ${names} objects)
  list(FILTER objects EXCLUDE REGEX "\\.nocuda\\.cpp")
  add_library(${target}_host OBJECT IMPORTED GLOBAL)
  set_target_properties(${target}_host PROPERTIES IMPORTED_OBJECTS "${objects}")

  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cu(da\\.cpp)?$")
  if(NOT sources)  # a target needs one
    set(sources ${PROJECT_BINARY_DIR}/mf_generated/empty.cpp)
    file(CONFIGURE OUTPUT ${sources} CONTENT "")
  endif()
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
  mf_add_objects(${target} $<TARGET_OBJECTS:${target}_host>)
endfunction()

if(MF_CUDA_ENABLED AND MF_HOST_BUILD)
  mf_check_host_build()
endif()
