# The program. Its commands, in the order in which help lists them: each is a db_NAME_command (src/cli/command.h) with
# the help of help/NAME.txt. The refinement, declared before, offers one of them.
include(cmake/EmbedText.cmake)
set(DB_COMMANDS sim grad check fit import view amorphous orient add compare noise help)
file(GLOB DB_CLI_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/*.c)
file(GLOB DB_HELP_TEXTS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cli/help/*.txt)
if(DB_HAVE_FIT)
  file(GLOB DB_FIT_CLI_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fit/cli/*.c)
  list(APPEND DB_CLI_SOURCES ${DB_FIT_CLI_SOURCES})
  list(APPEND DB_HELP_TEXTS ${PROJECT_SOURCE_DIR}/fit/cli/help/fit.txt ${PROJECT_SOURCE_DIR}/fit/cli/help/view.txt)
endif()
foreach(text IN LISTS DB_HELP_TEXTS)
  get_filename_component(name ${text} NAME_WE)
  set(source ${PROJECT_BINARY_DIR}/help_${name}.c)
  db_embed_text(${source} db_${name}_help ${text})
  list(APPEND DB_CLI_SOURCES ${source})
endforeach()
list(JOIN DB_COMMANDS "_command, db_" names)
list(TRANSFORM DB_COMMANDS REPLACE "(.+)" "&db_\\1_command" OUTPUT_VARIABLE pointers)
list(JOIN pointers ", " pointers)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/commands.c CONTENT
"/* By cmake/Program.cmake. */
#include \"cli/command.h\"
#include <stddef.h>
extern const db_command db_@names@_command;
#ifndef DB_HAVE_FIT
const db_command db_fit_command = { \"fit\",
  \"dualbragg fit: this build has no refinement (it needs NLopt, GSL, libyaml and jansson when it is configured)\\n\",
  NULL, db_command_absent };
const db_command db_view_command = { \"view\",
  \"dualbragg view: this build has no pictures of measured images (they need what dualbragg fit needs)\\n\",
  NULL, db_command_absent };
#endif
const db_command *const db_commands[] = { @pointers@, NULL };
" @ONLY)
list(APPEND DB_CLI_SOURCES ${PROJECT_BINARY_DIR}/commands.c)

add_executable(dualbragg_program ${DB_CLI_SOURCES})
set_target_properties(dualbragg_program PROPERTIES OUTPUT_NAME dualbragg)
# It uses more than the public interface: of shared libraries it carries its own copy.
target_link_libraries(dualbragg_program PRIVATE dualbragg_internal)
if(DB_LIBM)
  target_link_libraries(dualbragg_program PRIVATE m)
endif()
if(DB_HAVE_OPENMP) # shots of training sets
  target_link_libraries(dualbragg_program PRIVATE OpenMP::OpenMP_C)
endif()
if(DB_HAVE_JANSSON)
  target_link_libraries(dualbragg_program PRIVATE PkgConfig::JANSSON)
endif()
if(DB_HAVE_CUDA)
  target_link_libraries(dualbragg_program PRIVATE dualbragg_cuda)
endif()
if(DB_HAVE_FIT)
  target_link_libraries(dualbragg_program PRIVATE dualbragg_fit_internal)
  if(DB_HAVE_MPI)
    target_link_libraries(dualbragg_program PRIVATE MPI::MPI_C)
  endif()
endif()

# Manual pages and the completion of shells are what the program prints.
if(NOT CMAKE_CROSSCOMPILING)
  set(man ${PROJECT_BINARY_DIR}/man)
  set(completion ${PROJECT_BINARY_DIR}/completion)
  file(MAKE_DIRECTORY ${man} ${completion})
  set(DB_MANUAL_PAGES "")
  foreach(command IN LISTS DB_COMMANDS)
    string(REPLACE "-help" "" page dualbragg-${command}.1)
    if(NOT command MATCHES "^(fit|view)$" OR DB_HAVE_FIT)
      add_custom_command(TARGET dualbragg_program POST_BUILD
                         COMMAND dualbragg_program help man ${command} > ${man}/${page})
      list(APPEND DB_MANUAL_PAGES ${man}/${page})
    endif()
  endforeach()
  add_custom_command(TARGET dualbragg_program POST_BUILD
                     COMMAND dualbragg_program help completion bash > ${completion}/dualbragg
                     COMMAND dualbragg_program help completion zsh > ${completion}/_dualbragg)
  install(FILES ${DB_MANUAL_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${completion}/dualbragg DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completion}/_dualbragg DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
