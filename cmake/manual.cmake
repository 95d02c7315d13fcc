# Manual pages and completions of shells: the program writes them, from its table of options.
set(DPLOC_MANUAL ${CMAKE_BINARY_DIR}/manual)
add_custom_command(
    OUTPUT ${DPLOC_MANUAL}/made
    COMMAND ${CMAKE_COMMAND} -DDPLOC=$<TARGET_FILE:dploc> -DOUT=${DPLOC_MANUAL}
            -P ${CMAKE_SOURCE_DIR}/cmake/write_manual.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${DPLOC_MANUAL}/made
    DEPENDS dploc ${CMAKE_SOURCE_DIR}/cmake/write_manual.cmake
    COMMENT "Writing manual pages and completions"
    VERBATIM)
add_custom_target(dploc_manual ALL DEPENDS ${DPLOC_MANUAL}/made)
