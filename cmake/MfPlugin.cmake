# Plugins (algorithms/plugin): the headers of the contract, and what the program gives to them.

# mf_contract_headers(OUT): what a plugin may include, from the root of the source.
function(mf_contract_headers out)
  file(GLOB_RECURSE files RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/base/*.hpp
       ${PROJECT_SOURCE_DIR}/datasets/ratings/*.hpp ${PROJECT_SOURCE_DIR}/algorithms/core/*.hpp
       ${PROJECT_SOURCE_DIR}/algorithms/core/*.cuh)
  list(FILTER files EXCLUDE REGEX "(^|/)(test|bench)/")
  list(SORT files)
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# mf_export_contract(PROGRAM): a plugin finds in it what mfbench defines, and nothing of other libraries.
function(mf_export_contract program)
  set(list ${PROJECT_SOURCE_DIR}/cmake/plugin/exports.txt)
  target_link_options(${program} PRIVATE -Wl,--dynamic-list=${list})
  set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS ${list})
endfunction()
