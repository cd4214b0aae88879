# The commit from git; in a copy of the tree without history, from a file SOURCE_COMMIT.
set(sha "")
set(dirty "true")
execute_process(COMMAND git -C ${SOURCE_DIR} rev-parse HEAD
                OUTPUT_VARIABLE sha OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE rc)
if(rc EQUAL 0)
  execute_process(COMMAND git -C ${SOURCE_DIR} status --porcelain
                  OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(changes STREQUAL "")
    set(dirty "false")
  endif()
else()
  set(sha "unknown")
  if(EXISTS ${SOURCE_DIR}/SOURCE_COMMIT)
    file(STRINGS ${SOURCE_DIR}/SOURCE_COMMIT line LIMIT_COUNT 1)
    if(line MATCHES "^([0-9a-f]+) (clean|dirty)$")
      set(sha ${CMAKE_MATCH_1})
      if(CMAKE_MATCH_2 STREQUAL "clean")
        set(dirty "false")
      endif()
    endif()
  endif()
endif()
string(STRIP "${FLAGS}" FLAGS)
file(WRITE ${OUTPUT}.new "#pragma once
namespace mf::build_info {
inline constexpr const char* version = \"${VERSION}\";
inline constexpr const char* git_sha = \"${sha}\";
inline constexpr bool git_dirty = ${dirty};
inline constexpr const char* build_type = \"${BUILD_TYPE}\";
inline constexpr const char* compiler = \"${COMPILER}\";
inline constexpr const char* flags = \"${FLAGS}\";
}  // namespace mf::build_info
")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
