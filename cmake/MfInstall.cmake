# cmake --install: the program, what is made from its own command line, and what it and its figures read.
# Nothing in it knows the prefix, so the tree may be moved.
include(GNUInstallDirs)
set(mf_share ${CMAKE_INSTALL_DATADIR}/mfbench)
set(mf_pages ${PROJECT_BINARY_DIR}/mf_generated/pages)
set_target_properties(mfbench PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)  # CUDA's libraries

install(TARGETS mfbench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(PROGRAMS cmake/mfplots.sh DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME mfplots)

# Written by the program that is installed; without what its user has imported, which names data sets.
install(CODE "
  file(MAKE_DIRECTORY ${mf_pages})
  execute_process(COMMAND \"${CMAKE_COMMAND}\" -E env MFBENCH_CACHE=${mf_pages}/empty
                          \"$<TARGET_FILE:mfbench>\" schema OUTPUT_FILE ${mf_pages}/spec.schema.json
                  COMMAND_ERROR_IS_FATAL ANY)")
find_program(MF_HELP2MAN help2man)  # without it there is no manual page
if(MF_HELP2MAN)
  install(CODE "
    execute_process(COMMAND \"${MF_HELP2MAN}\" --no-info --name \"races matrix-factorization algorithms\"
                            --output ${mf_pages}/mfbench.1 \"$<TARGET_FILE:mfbench>\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${mf_pages}/mfbench.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
install(FILES cmake/mfbench-completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME mfbench)
install(FILES ${mf_pages}/spec.schema.json DESTINATION ${mf_share})

# For plugins: the headers of the contract, and the function that builds one.
mf_contract_headers(mf_headers)
foreach(header IN LISTS mf_headers)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mfbench/${folder})
endforeach()
install(FILES cmake/plugin/mfbenchConfig.cmake cmake/plugin/plugin.cpp
              ${PROJECT_BINARY_DIR}/mf_generated/plugin_abi.cmake DESTINATION lib/cmake/mfbench)

install(DIRECTORY experiments DESTINATION ${mf_share} FILES_MATCHING PATTERN "*.json")
install(DIRECTORY peers DESTINATION ${mf_share}
        FILES_MATCHING PATTERN "*.py" PATTERN "peer.json" PATTERN "requirements*.txt" PATTERN "__pycache__" EXCLUDE)
install(FILES datasets/synthetic/fit.py DESTINATION ${mf_share}/datasets/synthetic)
install(FILES datasets/fetch/fetch.py datasets/fetch/catalog.json DESTINATION ${mf_share}/datasets/fetch)
install(DIRECTORY plots/mfplots plots/recipes DESTINATION ${mf_share}/plots
        PATTERN "__pycache__" EXCLUDE)
install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.md" PATTERN "images/*" EXCLUDE PATTERN "__pycache__" EXCLUDE)
