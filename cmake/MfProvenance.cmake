# Writes build_info.hpp at every build (git sha and dirty flag change without a re-configure).
# A copy of the tree without git history may carry a generated file SOURCE_COMMIT: "<sha> clean|dirty".
string(TOUPPER "${CMAKE_BUILD_TYPE}" mf_type)
set(mf_flags "${CMAKE_CXX_FLAGS_${mf_type}}")
if(mf_type STREQUAL "RELEASE")  # of the targets that are timed
  string(APPEND mf_flags " ${mf_timed_flags}")
endif()
add_custom_target(mf_build_info
  COMMAND ${CMAKE_COMMAND}
    -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DOUTPUT=${PROJECT_BINARY_DIR}/mf_generated/build_info.hpp
    -DVERSION=${PROJECT_VERSION} -DBUILD_TYPE=${CMAKE_BUILD_TYPE}
    "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    "-DFLAGS=${mf_flags} ${MF_SANITIZE}"
    -P ${PROJECT_SOURCE_DIR}/cmake/WriteBuildInfo.cmake
  BYPRODUCTS ${PROJECT_BINARY_DIR}/mf_generated/build_info.hpp
  COMMENT "Reading the commit" VERBATIM)
