# The target docs: the documentation as a site, from the Markdown pages and the comments of the public headers, in
# ${PROJECT_BINARY_DIR}/docs. It takes Debian's packages alone, and no network.
set(DB_DOCS_PACKAGES python3-sphinx python3-myst-parser python3-breathe doxygen furo libjs-katex)
find_program(DB_SPHINX sphinx-build)
find_program(DB_DOXYGEN doxygen)
find_path(DB_KATEX katex.min.js PATHS /usr/share/javascript/katex)
mark_as_advanced(DB_SPHINX DB_DOXYGEN DB_KATEX)

set(DB_DOCS_MISSING "")
foreach(tool IN ITEMS SPHINX DOXYGEN KATEX)
  if(NOT DB_${tool})
    string(TOLOWER ${tool} name)
    list(APPEND DB_DOCS_MISSING ${name})
  endif()
endforeach()
if(DB_SPHINX) # extensions belong to the interpreter that runs Sphinx
  file(STRINGS ${DB_SPHINX} interpreter LIMIT_COUNT 1)
  string(REGEX REPLACE "^#! *" "" interpreter "${interpreter}")
  separate_arguments(interpreter UNIX_COMMAND "${interpreter}")
  foreach(module IN ITEMS myst_parser breathe furo)
    execute_process(COMMAND ${interpreter} -c "import ${module}" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
      list(APPEND DB_DOCS_MISSING ${module})
    endif()
  endforeach()
endif()

set(DB_DOCS_ALL "")
if(DB_BUILD_DOCS)
  set(DB_DOCS_ALL ALL)
endif()
if(DB_DOCS_MISSING)
  string(REPLACE ";" ", " missing "${DB_DOCS_MISSING}")
  string(REPLACE ";" " " packages "${DB_DOCS_PACKAGES}")
  add_custom_target(docs ${DB_DOCS_ALL} COMMAND ${CMAKE_COMMAND} -E echo "The documentation site cannot be built here. Missing: ${missing}."
                         COMMAND ${CMAKE_COMMAND} -E echo "On Debian 12: apt-get install ${packages}"
                         COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
else()
  set(DB_DOXYGEN_FOLDER ${PROJECT_BINARY_DIR}/docs-work/doxygen)
  configure_file(docs/Doxyfile.in ${PROJECT_BINARY_DIR}/docs-work/Doxyfile @ONLY)
  add_custom_target(docs ${DB_DOCS_ALL}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${DB_DOXYGEN_FOLDER}
    COMMAND ${DB_DOXYGEN} ${PROJECT_BINARY_DIR}/docs-work/Doxyfile
    COMMAND ${CMAKE_COMMAND} -E env DB_VERSION=${PROJECT_VERSION} DB_DOXYGEN_XML=${DB_DOXYGEN_FOLDER}/xml DB_KATEX=${DB_KATEX}
            ${DB_SPHINX} -q -W --keep-going -a -E -j auto -b html -c docs -d ${PROJECT_BINARY_DIR}/docs-work/doctrees
            . ${PROJECT_BINARY_DIR}/docs
    COMMAND ${CMAKE_COMMAND} -E echo "The documentation is in ${PROJECT_BINARY_DIR}/docs/index.html"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
endif()
