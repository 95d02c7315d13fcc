# DuckDB's C library, for the tests of Parquet: the program finds it at run time and is not built
# with it. Installed below the build directory by its lock file; where that cannot be done (no npm,
# another processor) the tests that need it say that they are skipped.
set(DPLOC_DUCKDB_LIBRARY "" CACHE FILEPATH "a libduckdb.so made elsewhere, for the tests")
add_custom_target(duckdb_library ALL)
if(DPLOC_DUCKDB_LIBRARY)
    return()
endif()

find_program(NPM npm)
set(duckdb ${CMAKE_SOURCE_DIR}/tests/duckdb)
set(DPLOC_DUCKDB_FOLDER ${CMAKE_BINARY_DIR}/duckdb)
set(DPLOC_DUCKDB_LIBRARY
    ${DPLOC_DUCKDB_FOLDER}/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so)
if(NOT NPM)
    return()
endif()
file(MAKE_DIRECTORY ${DPLOC_DUCKDB_FOLDER})
add_custom_command(
    OUTPUT ${DPLOC_DUCKDB_FOLDER}/installed
    COMMAND ${CMAKE_COMMAND} -E copy ${duckdb}/package.json ${duckdb}/package-lock.json
            ${duckdb}/.npmrc ${DPLOC_DUCKDB_FOLDER}
    COMMAND ${NPM} ci --prefer-offline --loglevel=error || echo "Parquet will not be tested"
    COMMAND ${CMAKE_COMMAND} -E touch ${DPLOC_DUCKDB_FOLDER}/installed
    DEPENDS ${duckdb}/package.json ${duckdb}/package-lock.json ${duckdb}/.npmrc
    WORKING_DIRECTORY ${DPLOC_DUCKDB_FOLDER}
    COMMENT "Installing DuckDB's library for the tests of Parquet" VERBATIM)
add_custom_target(duckdb_install DEPENDS ${DPLOC_DUCKDB_FOLDER}/installed)
add_dependencies(duckdb_library duckdb_install)
