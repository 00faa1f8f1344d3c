# A package of Debian, by CPack: ./setup.sh deb.
set(CPACK_GENERATOR DEB)
# what dualbragg.pc and dualbragg_fit.pc require of programs that link the static libraries
set(DB_STATIC_PACKAGES libpng-dev zlib1g-dev libjansson-dev "libmsgpack-c-dev | libmsgpack-dev" libhdf5-dev liblz4-dev libzstd-dev
    libtiff-dev libnlopt-dev libgsl-dev libyaml-dev gemmi-dev g++)
set(CPACK_PACKAGE_NAME dualbragg)
set(CPACK_PACKAGE_CONTACT "The dualbragg authors <dualbragg@example.org>")
set(CPACK_PACKAGE_HOMEPAGE_URL https://example.org/dualbragg)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "differentiable diffraction of crystals, and refinement")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "The program renders what a pixel detector records from a small crystal in an\nX-ray beam, and in the same pass the exact derivative of every pixel with\nrespect to crystal, beam and detector. It refines these against measured\nimages. C headers and static libraries are in this package, too.")
set(CPACK_DEBIAN_PACKAGE_RELEASE 0.1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
list(JOIN DB_STATIC_PACKAGES ", " CPACK_DEBIAN_PACKAGE_SUGGESTS)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/finish.cmake)
include(CPack)
