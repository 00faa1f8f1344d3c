#!/bin/sh
# A build folder that found all libraries can be told to do without some: then nothing asks for them, although what was found
# stays in the folder's cache. libhdf5 is found without its .pc, too.
set -eu
[ -f "$BINARY_DIR/CMakeCache.txt" ] || { echo "skipped: no $BINARY_DIR/CMakeCache.txt"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# configure OPTION...: again in $work/build, which begins as this build's folder and goes back to that each time.
configure() {
    rm -rf "$work/build"
    mkdir -p "$work/build/CMakeFiles"
    sed "s|^CMAKE_CACHEFILE_DIR:INTERNAL=.*|CMAKE_CACHEFILE_DIR:INTERNAL=$work/build|" "$BINARY_DIR/CMakeCache.txt" \
        > "$work/build/CMakeCache.txt"
    cp -R "$BINARY_DIR"/CMakeFiles/[0-9]* "$work/build/CMakeFiles/"
    cmake -S "$SOURCE_DIR" -B "$work/build" -DDB_BUILD_TESTS=OFF -DDB_WITH_PYTHON=OFF "$@" > "$work/log" 2>&1 || {
        echo "FAILED: cmake $*"
        cat "$work/log"
        exit 1
    }
    find "$work/build" \( -name build.ninja -o -name link.txt -o -name flags.make \) -exec \
        grep -hE '^ *(LINK_LIBRARIES|DEFINES|C_DEFINES) =|^[^ ]*(cc|c\+\+|gcc|ar|clang) ' {} + > "$work/commands" || true
    [ "$(wc -l < "$work/commands")" -ge 10 ] || { echo "FAILED: no commands of compilers found"; exit 1; }
}

# without PATTERN OPTION...: no command has the pattern.
without() {
    pattern=$1
    shift
    configure "$@"
    if grep -oE "[^ ]*($pattern)[^ ]*" "$work/commands" | grep -v "\.o$" | sort -u | grep .; then
        echo "FAILED: the above is still asked for after cmake $*"
        exit 1
    fi
}
fit='DB_HAVE_(FIT|MPI)|nlopt|gsl|yaml|libmpi'
# which the refinement and HDF5 rest on
without "DB_HAVE_JANSSON|jansson|$fit|DB_HAVE_(ZLIB|HDF5)|hdf5" -DDB_WITH_JANSSON=OFF -DDB_WITH_ZLIB=OFF
off=
for name in OPENMP RANDOM123 PNG ZLIB JANSSON MSGPACK GEMMI HDF5 TIFF FIT MPI; do off="$off -DDB_WITH_$name=OFF"; done
# shellcheck disable=SC2086 # options are to be split
without "DB_HAVE_(OPENMP|RANDOM123|PNG|ZLIB|JANSSON|MSGPACK|GEMMI|HDF5|TIFF)|openmp|gomp|libpng|libz\\.|jansson|msgpack|gemmi_cpp|hdf5|zstd|tiff|$fit" $off

if grep -q '^H5_FOUND:INTERNAL=1' "$BINARY_DIR/CMakeCache.txt"; then
    for name in hdf5 hdf5-serial; do
        printf 'Name: HDF5\nDescription: of no use\nVersion: 1\nRequires: nothing-of-this-name\n' > "$work/$name.pc"
    done
    export PKG_CONFIG_PATH="$work"
    configure -U 'H5_*' -U '__pkg_config_checked_H5'
    for part in DB_HAVE_HDF5 libhdf5; do
        grep -q $part "$work/commands" || { echo "FAILED: without its .pc libhdf5 is not found"; exit 1; }
    done
fi
