# What Debian asks of the files of a package: licences and changes under other names, manual pages packed.
file(GLOB_RECURSE manuals ${CPACK_TEMPORARY_DIRECTORY}/usr/share/man/*.[1-9])
set(documents ${CPACK_TEMPORARY_DIRECTORY}/usr/share/doc/dualbragg)
file(READ ${documents}/LICENSE licence)
file(REMOVE ${documents}/LICENSE)
string(REGEX REPLACE "^MIT License\n\n(Copyright[^\n]*)\n\n" "\\1\n\n" licence "${licence}")
file(READ /usr/share/doc/librandom123-dev/copyright random123)
file(WRITE ${documents}/copyright "The files of dualbragg are under the MIT licence, but for those named below it.

${licence}
The program is linked with GSL, the GNU Scientific Library. So the program as a whole may be handed on under the terms of the GNU
General Public License, version 3 or later: /usr/share/common-licenses/GPL-3.

Program and libraries contain parts of gemmi, Copyright Global Phasing Ltd., under the Mozilla Public License 2.0:
/usr/share/common-licenses/MPL-2.0. Its source is at https://github.com/project-gemmi/gemmi and in Debian's source package gemmi.

The files in /usr/share/doc/dualbragg/examples/data were made from the DIALS data files (https://github.com/dials/data-files). They
are under the licence Creative Commons Attribution 4.0, https://creativecommons.org/licenses/by/4.0/; their README.md names the
changes.

Program and libraries contain parts of Random123, Copyright D. E. Shaw Research. Of it Debian says:

${random123}")
file(RENAME ${documents}/CHANGELOG.md ${documents}/changelog)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${documents}/changelog.Debian "dualbragg (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}: changelog.gz tells what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
execute_process(COMMAND gzip -9nf ${manuals} ${documents}/changelog ${documents}/changelog.Debian
                COMMAND_ERROR_IS_FATAL ANY)
