# What Debian asks of the files of a package: the licence and the changes under other names, manual pages packed.
file(GLOB_RECURSE manuals ${CPACK_TEMPORARY_DIRECTORY}/usr/share/man/*.[1-9])
set(documents ${CPACK_TEMPORARY_DIRECTORY}/usr/share/doc/dualbragg)
file(RENAME ${documents}/LICENSE ${documents}/copyright)
file(RENAME ${documents}/CHANGELOG.md ${documents}/changelog)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${documents}/changelog.Debian "dualbragg (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}: changelog.gz tells what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
execute_process(COMMAND gzip -9nf ${manuals} ${documents}/changelog ${documents}/changelog.Debian
                COMMAND_ERROR_IS_FATAL ANY)
