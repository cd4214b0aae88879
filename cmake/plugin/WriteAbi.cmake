# Writes OUTPUT.hpp and OUTPUT.cmake: the name of the contract, by the text of its HEADERS and the COMPILER.
string(REGEX MATCH "^[^ ]+ [0-9]+" compiler "${COMPILER}")
set(all "${compiler}")
foreach(header IN LISTS HEADERS)
  file(SHA256 ${ROOT}/${header} hash)
  string(APPEND all "\n${header} ${hash}")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING ${hash} 0 12 abi)
set(name mfbench_abi_${abi})
file(CONFIGURE OUTPUT ${OUTPUT}.hpp CONTENT "// Generated; do not edit.
#define MF_PLUGIN_ABI ${name}
#define MF_PLUGIN_ABI_NAME \"${name}\"
")
file(CONFIGURE OUTPUT ${OUTPUT}.cmake CONTENT "# Generated; do not edit.
set(mfbench_VERSION ${VERSION})
set(mfbench_ABI ${name})
set(mfbench_COMPILER \"${compiler}\")
")
