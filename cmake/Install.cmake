# make install: program, libraries, headers, CMake package, pkg-config files, documents; examples/CMakeLists.txt adds its own.
include(CMakePackageConfigHelpers)
set(DB_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/dualbragg)

if(TARGET dualbragg_program)
  install(TARGETS dualbragg_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

function(db_install_library library export_set headers)
  install(TARGETS ${library} EXPORT ${export_set}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${headers}/dualbragg DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h")
  install(EXPORT ${export_set} NAMESPACE dualbragg:: DESTINATION ${DB_PACKAGE_DIR})
  configure_file(${PROJECT_SOURCE_DIR}/${library}.pc.in ${PROJECT_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# A static library leaves its own libraries to the program that uses it; pkg-config is told so, so that
# the same command links both kinds.
set(DB_PC_REQUIRES "")
set(DB_PC_LIBS "")
set(DB_PC_FIT_REQUIRES "")
if(NOT BUILD_SHARED_LIBS)
  set(modules ${DB_MODULES})
  if(DB_HAVE_PNG)
    list(APPEND modules PNG:libpng ZLIB:zlib)
    list(REMOVE_DUPLICATES modules)
  endif()
  set(fit_modules ${DB_FIT_MODULES})
  list(TRANSFORM modules REPLACE "^.*:" "")
  list(TRANSFORM fit_modules REPLACE "^.*:" "")
  list(JOIN modules " " DB_PC_REQUIRES)
  list(JOIN fit_modules " " DB_PC_FIT_REQUIRES)
  set(libraries ${DB_PLAIN_LIBRARIES} ${DB_PC_ONLY_LIBRARIES})
  list(TRANSFORM libraries REPLACE "^[^/]+$" "-l\\0")
  if(DB_HAVE_OPENMP)
    list(APPEND libraries ${OpenMP_C_FLAGS})
  endif()
  if(DB_LIBM)
    list(APPEND libraries -lm)
  endif()
  list(JOIN libraries " " DB_PC_LIBS)
endif()
# Relative to the .pc file, so that an installation can be moved.
file(RELATIVE_PATH DB_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" DB_PC_UP ${DB_PC_UP})

db_install_library(dualbragg dualbraggTargets ${PROJECT_SOURCE_DIR}/src/include)
if(TARGET dualbragg_fit)
  db_install_library(dualbragg_fit dualbraggFitTargets ${PROJECT_SOURCE_DIR}/fit/include)
endif()

if(TARGET dualbragg_cuda)
  install(TARGETS dualbragg_cuda EXPORT dualbraggCudaTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/cuda/include/dualbragg DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT dualbraggCudaTargets NAMESPACE dualbragg:: DESTINATION ${DB_PACKAGE_DIR})
endif()

configure_package_config_file(cmake/dualbraggConfig.cmake.in ${PROJECT_BINARY_DIR}/dualbraggConfig.cmake
                              INSTALL_DESTINATION ${DB_PACKAGE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/dualbraggConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/dualbraggConfig.cmake
              ${PROJECT_BINARY_DIR}/dualbraggConfigVersion.cmake
        DESTINATION ${DB_PACKAGE_DIR})
install(FILES LICENSE README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md SECURITY.md CITATION.cff
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES bench/README.md bench/NOTES.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench)
install(FILES cuda/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/cuda)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.svg"
        PATTERN site EXCLUDE)
install(DIRECTORY ${PROJECT_BINARY_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/html OPTIONAL) # where the target docs was built
if(PROJECT_IS_TOP_LEVEL)
  include(packaging/debian/package.cmake)
endif()
