# The page of `dploc report`: web/ bundled with Apache ECharts, then compiled in as one array.
#
# Needs Node (18 or later) and npm at build time only. Packages are installed below the build directory, once for each lock file; npm keeps
# its own cache, so another build directory installs in seconds. DPLOC_PAGE names a page.c made elsewhere instead: nothing of Node is used then.
set(DPLOC_PAGE "" CACHE FILEPATH "a page.c made elsewhere, to build without Node")
set(DPLOC_WEB ${CMAKE_BINARY_DIR}/web)

# The source tarball (scripts/dist.sh) brings the page along.
if(NOT DPLOC_PAGE AND EXISTS ${CMAKE_SOURCE_DIR}/web/built/page.c)
    set(DPLOC_PAGE ${CMAKE_SOURCE_DIR}/web/built/page.c)
endif()

if(DPLOC_PAGE)
    set(DPLOC_PAGE_SOURCE ${DPLOC_PAGE})
    return()
endif()

find_program(NODE node REQUIRED)
find_program(NPM npm REQUIRED)
set(web ${CMAKE_SOURCE_DIR}/web)
set(DPLOC_PAGE_SOURCE ${DPLOC_WEB}/page/page.c)
add_custom_command(
    OUTPUT ${DPLOC_WEB}/installed
    COMMAND ${CMAKE_COMMAND} -E copy ${web}/package.json ${web}/package-lock.json ${web}/.npmrc ${DPLOC_WEB}
    COMMAND ${NPM} ci --prefer-offline --loglevel=error
    COMMAND ${CMAKE_COMMAND} -E touch ${DPLOC_WEB}/installed
    DEPENDS ${web}/package.json ${web}/package-lock.json ${web}/.npmrc
    WORKING_DIRECTORY ${DPLOC_WEB}
    COMMENT "Installing what the report's page is built with" VERBATIM)
file(MAKE_DIRECTORY ${DPLOC_WEB})

file(GLOB DPLOC_WEB_SOURCES CONFIGURE_DEPENDS ${web}/*.js ${web}/*.css ${web}/*.html ${web}/*.mjs)
add_custom_command(
    OUTPUT ${DPLOC_PAGE_SOURCE}
    COMMAND ${NODE} ${web}/build.mjs ${DPLOC_WEB} ${DPLOC_WEB}/page
    DEPENDS ${DPLOC_WEB}/installed ${DPLOC_WEB_SOURCES} ${CMAKE_SOURCE_DIR}/LICENSES ${CMAKE_SOURCE_DIR}/LICENSE
    COMMENT "Building the report's page" VERBATIM)
